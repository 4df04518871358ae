// The products that a device's work items compute. Must add in the order of K,
// and read nothing outside: tiles are whole, and rows past the last repeat it.
#include "compiler/halide/Elements.h"
#include "compiler/halide/matmul/MatmulPipe.h"

using namespace Halide;

namespace mille {

Expr MatmulPipe::lastRow() const {
  return byExpert ? expertRows(0) - 1 : input.dim(1).max();
}

// The group of a weight's values at column x of a panel, step y and panel z.
Expr MatmulPipe::wordAt(const Expr &x, const Expr &y, const Expr &z) const {
  const Expr step = min(y, steps - 1);
  return inRows ? weight(step, weightRow(x, z))
                : weight(x, step, min(z, panels - 1));
}

// The row of a weight in rows that is column x of panel z.
Expr MatmulPipe::weightRow(const Expr &x, const Expr &z) const {
  const int columns = int(s.columns);
  const Expr column = min(z * width + x % width, columns - 1);
  return accumulators == 1 ? column : x / width * columns + column;
}

// The sum of that row.
Expr MatmulPipe::sumAt(const Expr &x, const Expr &z) const {
  return inRows ? sums(0, weightRow(x, z)) : sums(x, 0, z);
}

void MatmulPipe::multiplyOnDevice() {
  const Type sumType = s.ofBytes() ? Int(32) : Float(32);
  Expr column = columnInPanel(), at = panelNumber();
  Expr row = min(m, lastRow());
  product(inTile) = s.ofBytes() ? startOf(row, column, at) : Expr(0.0f);
  k = RDom(0, K / group, names("k"));
  // Values of rows and words of panels, which a group may bring closer.
  Var x(names("x")), y(names("y")), z(names("z"));
  auto valueAt = [&](const Expr &x, const Expr &y) {
    return cast(sumType, widened(input(min(x, K - 1), min(y, lastRow()))));
  };
  rows = make("rows");
  panelsOf = make("panels");
  rows(x, y) = valueAt(x, y);
  panelsOf(x, y, z) = wordAt(x, y, z);
  auto plusStep = [&](int parts, const Expr &step, bool whole) {
    Expr sum = product(inTile);
    Expr word = whole ? panelsOf(column, step, at) : wordAt(column, step, at);
    for (int part = 0; part < parts; ++part) {
      Expr k = step * group + part;
      sum = sum + (whole ? rows(k, m) : valueAt(k, m)) *
                      (readsWords ? partOf(word, part, s.input.element) : word);
    }
    return sum;
  };
  product(inTile) = plusStep(group, k.x, true);
  if (K % group)
    product(inTile) = plusStep(K % group, K / group, false);
}

} // namespace mille

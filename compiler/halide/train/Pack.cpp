// A weight in panels of columns, made while the program runs: what a matmul
// reads just after.
// Must fill up the last panel with zeros.
#include "compiler/halide/Build.h"
#include "compiler/halide/passes/Prefetch.h"
#include "compiler/halide/passes/TurnSquares.h"

using namespace Halide;

namespace mille {

// Rows of the transpose are read one behind the other. Where they are short the
// numbers so far on are prefetched, since the core's own prefetcher begins anew
// in each page: 256 x 256 from memory takes a fifth less time on a Zen 4. Rows
// of a page and more gain nothing.
constexpr int numbersAhead = 2048, numbersOfPage = 1024;

// Of the transpose a line of a panel is a piece of a row of the weight; else it
// is a piece of a column, and squares of numbers are turned, which lie in L1
// meanwhile.
Pipe buildPack(const KernelSpec &spec, const Machine &machine,
               const Names &names) {
  const PackSpec &s = spec.pack;
  const int V = machine.lanes, panel = int(s.panel);
  const int rows = int(s.transposed ? s.weight.columns : s.weight.rows);
  Var j(names("j")), step(names("step")), p(names("p"));
  ImageParam weight(Float(32), 2, names("weight"));
  weight.dim(1).set_stride(int(s.weight.rowStride));
  Pipe pipe;
  pipe.arguments = {weight};
  pipe.out = Func(names("out"));
  Func &out = pipe.out;
  Expr row = p * panel + j, inside = min(row, rows - 1),
       k = min(likely(step), weight.dim(0).max()); // the task's last column
  Expr from = s.transposed ? weight(inside, step) : weight(k, inside);
  Func square(names("square"));
  square(step, j, p) = select(likely(row < rows), from, 0.0f);
  out(j, step, p) = square(step, j, p);
  auto buffer = out.output_buffer();
  buffer.dim(0).set_bounds(0, panel);
  buffer.dim(1).set_stride(panel);
  buffer.dim(2).set_bounds(0, int(s.panels)).set_stride(panel * int(s.steps));
  out.bound(j, 0, panel).bound(p, 0, int(s.panels));
  if (s.transposed) {
    out.reorder(j, p, step).vectorize(j, V); // rows are read to their ends
    if (s.weight.rowStride < numbersOfPage)
      pipe.passes.push_back(
          prefetchFar({weight.name(), out.name(), 4, numbersAhead, true}));
    return pipe;
  }
  Var jo(names("jo")), ji(names("ji")), so(names("so")), si(names("si"));
  out.split(step, so, si, V, TailStrategy::GuardWithIf)
      .split(j, jo, ji, V, TailStrategy::GuardWithIf)
      .reorder(ji, si, so, jo, p) // rows are read to their ends
      .vectorize(ji);
  placeSquares(square, {out, so}, step, j, V);
  pipe.passes.push_back(turnSquares({square.name(), out.name(), si.name(), V}));
  const SquaresPrefetch rowsAhead{weight.name(),          so.name(), 4, V, V,
                                  int(s.weight.rowStride)};
  if (rowsAhead.isNear())
    pipe.passes.push_back(prefetchSquares(rowsAhead));
  return pipe;
}

} // namespace mille

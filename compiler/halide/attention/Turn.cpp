// RoPE on Halide. Must give a pair the same bits wherever it is rotated.
#include "compiler/halide/attention/Turn.h"

using namespace Halide;

namespace mille {

int lanesFor(int64_t columns, int lanes) {
  while (columns % lanes)
    lanes /= 2;
  return lanes;
}

// A head that rotates as a whole is [angle, half of the pair], or [half of the
// pair, angle] where pairs are interleaved, so that both stores of a pair are
// made at once.
TurnedHeads::TurnedHeads(const Turning &turning, const Source &source,
                         const ImageParam &rotation, const Expr &firstRow,
                         const Names &names, const char *name)
    : rows(names(name)), turning(turning) {
  const int n = int(turning.angles), start = int(turning.start);
  Var d(names("d")), i(names("i")), part(names("part")), r(names("r")),
      h(names("h"));
  auto columnOf = [&](const Expr &angle, int of) {
    return start + (turning.interleaved ? 2 * angle + of : angle + of * n);
  };
  auto turned = [&](const Expr &angle, int of) {
    Expr first = source(columnOf(angle, 0), r, h),
         second = source(columnOf(angle, 1), r, h);
    Expr cosine = rotation(angle, firstRow + r),
         sine = rotation(angle + n, firstRow + r);
    return of ? second * cosine + first * sine : first * cosine - second * sine;
  };
  if (turning.isWhole()) {
    Expr both = select(part == 0, turned(i, 0), turned(i, 1));
    if (turning.interleaved)
      rows(part, i, r, h) = both;
    else
      rows(i, part, r, h) = both;
    return;
  }
  rows(d, r, h) = source(d, r, h);
  for (int of = 0; of < 2; ++of) {
    RDom angle(0, n, names(of ? "angle1" : "angle0"));
    rows(columnOf(angle, of), r, h) = turned(angle, of);
    across.push_back(angle);
  }
}

Expr TurnedHeads::at(const Expr &d, const Expr &row, const Expr &head) const {
  if (!turning.isWhole())
    return rows(d, row, head);
  int inner = turning.interleaved ? 2 : int(turning.angles);
  return rows(d % inner, d / inner, row, head);
}

void TurnedHeads::spread(const Loops &loops) {
  std::vector<Var> of = rows.args();
  if (!turning.isWhole()) {
    rows.bound_extent(of[0], int(turning.headDim));
    loops(rows, of[0], of[1]);
    for (int i = 0; i < 2; ++i)
      loops(rows.update(i), across[i], of[1]);
    return;
  }
  Var part = of[turning.interleaved ? 0 : 1],
      i = of[turning.interleaved ? 1 : 0];
  rows.bound(part, 0, 2)
      .bound(i, 0, int(turning.angles))
      .reorder(part, i, of[2]);
  loops(rows, i, of[2]);
}

void TurnedHeads::vectorize(int lanes) {
  std::vector<Var> of = rows.args();
  if (!turning.isWhole()) {
    rows.bound_extent(of[0], int(turning.headDim))
        .vectorize(of[0], lanesFor(turning.headDim, lanes));
    for (int i = 0; i < 2 && !turning.interleaved; ++i)
      rows.update(i).vectorize(across[i], lanesFor(turning.angles, lanes));
    return;
  }
  Var part = of[turning.interleaved ? 0 : 1],
      i = of[turning.interleaved ? 1 : 0];
  rows.bound(part, 0, 2)
      .bound(i, 0, int(turning.angles))
      .reorder(part, i)
      .vectorize(i, lanesFor(turning.angles, lanes))
      .unroll(part);
}

} // namespace mille

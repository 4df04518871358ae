// Matmul of bytes where no instruction adds four products: one adds two, of
// integers of 16 bits, so a group's sum stands in two halves.
// Must not saturate: the sum of two products of bytes does not fit in 16 bits.
#include "compiler/halide/matmul/MatmulPipe.h"
#include "compiler/halide/passes/Prefetch.h"
#include "compiler/halide/passes/Unswitch.h"

using namespace Halide;

namespace mille {
namespace {

constexpr int stepsAhead = 8; // of K: as many reads of a panel's columns

} // namespace

// A tile's rows are widened once, weights as they are multiplied; halves are
// added when K is summed. LLVM shuffled the products of each step to add their
// halves: 384 -> 1536 for 128 rows takes 0.5 of that time with AVX2 on a Zen 4,
// and 0.7 with AVX-512.
void MatmulPipe::multiplyHalves() {
  Expr column = columnInPanel(), at = panelNumber();
  widenRows();
  product(inTile) = startOf(rowRead(), column, at);
  k = RDom(0, group / 2, 0, K / group, names("k"));
  rest = RDom(0, std::max(K % group, 1), names("rest"));
  halvesOf = RDom(0, 2, names("halves"));
  for (RDom *domain : {&k, &rest, &halvesOf})
    domain->where(inTileOfAll(i, t));
  auto times = [&](const Expr &part, const Expr &step) {
    return cast<int32_t>(wide(step * group + part, i, t)) *
           cast<int32_t>(weight(column * group + part, step, at));
  };
  pairs = make("pairs");
  std::vector<Var> ofHalf{half};
  ofHalf.insert(ofHalf.end(), inTile.begin(), inTile.end());
  pairs(ofHalf) = 0;
  pairs(ofHalf) += times(half * (group / 2) + k.x, k.y);
  std::vector<Expr> of{halvesOf.x};
  of.insert(of.end(), inTile.begin(), inTile.end());
  product(inTile) += pairs(of);
  if (K % group)
    product(inTile) += times(rest, K / group);
}

// The sums of one vector of columns, of all rows of a tile.
void MatmulPipe::scheduleSlice(Func f) {
  f.compute_at(parking, slice)
      .bound_extent(ni, V)
      .bound_extent(a, 1)
      .bound_extent(i, tile.rows)
      .bound_extent(t, 1)
      .bound_extent(no, 1)
      .vectorize(ni)
      .unroll(i)
      .store_in(MemoryType::Register);
}

// A tile has all columns of a panel, which its rows meet vector by vector.
void MatmulPipe::parkSlices() {
  placeTile(parking, {pipe.out, tileRows.y}, tile.rows);
  parking.split(ni, slice, ni, V)
      .reorder(ni, i, t, slice, a, no)
      .vectorize(ni)
      .unroll(i)
      .store_in(MemoryType::Stack);
}

void MatmulPipe::scheduleHalves() {
  Var nl(names("nl"));
  scheduleWideRows();
  scheduleSlice(product);
  product.update(0)
      .split(ni, ni, nl, V)
      .reorder(halvesOf.x, nl, ni, a, i, no)
      .atomic()
      .vectorize(halvesOf.x)
      .vectorize(nl)
      .unroll(ni)
      .unroll(i);
  if (K % group)
    product.update(1)
        .reorder(ni, a, i, no, rest.x)
        .vectorize(ni, V)
        .unroll(ni)
        .unroll(i);
  scheduleSlice(pairs);
  pairs.bound(half, 0, 2).reorder(half, ni, i).vectorize(half);
  pairs.update()
      .split(ni, ni, nl, V)
      .reorder(k.x, half, nl, ni, i, a, no, k.y)
      .atomic()
      .vectorize(k.x)
      .vectorize(half)
      .vectorize(nl)
      .unroll(ni)
      .unroll(i);
  pipe.passes.push_back(
      prefetchRows({weight.name(), pairs.name(), 1, stepsAhead}));
  pipe.passes.push_back(unswitchUpdate(pairs.name()));
}

} // namespace mille

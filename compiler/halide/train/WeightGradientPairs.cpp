// out[n, k] += sum over m of gradient[m, n] input[m, k], of bf16: one
// instruction adds the products of two rows. Pairs of rows are laid side by
// side first, those of the gradient for a block of the out's rows, those of the
// input for a tile's columns.
// Must pair rows from the first one on, and add pairs in their order: bits
// depend on no cut into tasks, and a batch in pieces of an even number of rows
// gives those of a whole one.
#include "compiler/halide/Build.h"
#include "compiler/halide/Elements.h"
#include "compiler/halide/passes/KeepSums.h"
#include "compiler/halide/passes/Prefetch.h"

using namespace Halide;

namespace mille {
namespace {

// A block of the gradient, in pairs and in rows of the out, lies in L2 beside a
// tile's columns of the input. Shorter blocks read and write the out's sums
// more often: where its rows are multiples of 4 KiB, few of them lie in L2
// together.
constexpr int blockPairs = 256, blockRows = 384;

// A row of the input is prefetched so many pairs before it is read.
constexpr int pairsAhead = 24;

// Columns of a tile, in whole vectors; 0 where the out's rows have none.
int columnsOfPairs(int64_t columns, int lanes) {
  for (int vectors : {3, 2, 1})
    if (columns % (vectors * lanes) == 0)
      return vectors * lanes;
  return 0;
}

} // namespace

bool sumsInPairs(const KernelSpec &spec, const Machine &machine) {
  return machine.pairs &&
         spec.weightGradient.gradient.element == Element::bf16 &&
         columnsOfPairs(spec.out.columns, machine.lanes) > 0;
}

int weightGradientColumnsOfPairs(const KernelSpec &spec) {
  return columnsOfPairs(spec.out.columns, Machine().lanes);
}

void scratchOfPairs(const KernelSpec &spec, uint64_t &base) {
  const int64_t rows = std::min<int64_t>(spec.out.rows, blockRows) +
                       weightGradientColumnsOfPairs(spec);
  base = uint64_t(2 * rows * blockPairs * bytesOf(Element::bf16));
}

Pipe buildWeightGradientOfPairs(const KernelSpec &spec, const Machine &machine,
                                const Names &names) {
  const WeightGradientSpec &s = spec.weightGradient;
  Var n(names("n")), k(names("k")), part(names("part")), q(names("q"));
  ImageParam gradient(BFloat(16), 2, names("gradient"));
  gradient.dim(1).set_stride(int(s.gradient.rowStride));
  ImageParam input = bufferOf(s.input, names("input"));
  Pipe pipe;
  pipe.arguments = {gradient, input};
  const Expr rows = input.dim(1).extent();
  // An odd last row has a row of zeros beside it.
  auto paired = [&](const char *name, const ImageParam &of, const Var &column) {
    Func pairs(names(name));
    Expr row = 2 * q + part;
    pairs(part, column, q) =
        select(row < rows, of(column, input.dim(1).min() + min(row, rows - 1)),
               cast(BFloat(16), 0.0f));
    return pairs;
  };
  Func ofGradient = paired("gradient_pairs", gradient, n),
       ofInput = paired("input_pairs", input, k);
  RDom r(0, 2, 0, (rows + 1) / 2, names("r"));
  pipe.out = Func(names("out"));
  Func &out = pipe.out;
  out(k, n) = undef<float>();
  out(k, n) +=
      cast<float>(ofGradient(r.x, n, r.y)) * cast<float>(ofInput(r.x, k, r.y));

  const int columns = columnsOfPairs(spec.out.columns, machine.lanes),
            rowsOfTile = weightGradientRows(spec, machine.wide);
  auto buffer = out.output_buffer();
  buffer.dim(0)
      .set_min(buffer.dim(0).min() / columns * columns)
      .set_extent(buffer.dim(0).extent() / columns * columns);
  buffer.dim(1).set_stride(int(spec.out.rowStride));
  Var ki(names("ki")), kv(names("kv")), nb(names("nb")), ni(names("ni"));
  RVar block(names("block")), mi(names("mi"));
  out.update()
      .split(k, k, ki, columns)
      .split(ki, ki, kv, machine.lanes)
      .split(n, nb, n, blockRows, TailStrategy::GuardWithIf)
      .split(n, n, ni, rowsOfTile, TailStrategy::GuardWithIf)
      .split(r.y, block, mi, blockPairs, TailStrategy::GuardWithIf)
      .reorder({r.x, kv, ki, ni, mi, n, k, block, nb})
      .atomic()
      .vectorize(r.x)
      .vectorize(kv)
      .unroll(ki)
      .unroll(ni);
  ofGradient.compute_at(out, block)
      .store_in(MemoryType::Heap)
      .bound(part, 0, 2)
      .unroll(part)
      .vectorize(n, machine.lanes, TailStrategy::GuardWithIf);
  ofInput.compute_at(out, k)
      .store_in(MemoryType::Heap)
      .bound(part, 0, 2)
      .bound_extent(k, columns)
      .unroll(part)
      .vectorize(k, machine.lanes)
      .unroll(k);
  // Nothing else brings a tile's sums near, whose rows lie far apart.
  pipe.passes.push_back(keepSums(
      {out.name(), mi.name(), false, rowsOfTile * int(spec.out.rowStride)}));
  // Nothing brings rows of the input near either: a tile reads a few lines of
  // each.
  pipe.passes.push_back(prefetchRows(
      {input.name(), ofInput.name(), int(bytesOf(Element::bf16)), pairsAhead}));
  return pipe;
}

} // namespace mille

// out[n, k] += sum over m of gradient[m, n] input[m, k]: a register tile of the
// out adds a chunk of rows, and the out holds the sums between chunks.
// Must add rows in their order, and never split a sum: bits depend on no cut
// into tasks, and a batch in pieces gives those of a whole one.
#include "compiler/halide/Build.h"
#include "compiler/halide/Elements.h"
#include "compiler/halide/passes/KeepSums.h"

using namespace Halide;

namespace mille {
namespace {

// Rows of a chunk: what a tile of columns reads of the input lies in L2, beside
// a block of the gradient's columns, and the out's sums are seldom read and
// written: where its rows are multiples of 4 KiB, few of them lie in L2
// together.
constexpr int chunkRows = 512, blockColumns = 128;

// Columns of a tile: three vectors, or two where these waste none.
int tileColumns(int64_t columns, const Machine &machine) {
  const int V = machine.lanes;
  return !machine.wide || (columns % (3 * V) && columns % (2 * V) == 0) ? 2 * V
                                                                        : 3 * V;
}

} // namespace

int weightGradientRows(const KernelSpec &spec, bool wide) {
  return wide && spec.out.rows % 8 == 0 ? 8 : 6;
}

int weightGradientColumns(const KernelSpec &spec) {
  Machine machine;
  const int ofPairs = weightGradientColumnsOfPairs(spec);
  if (isBf16(spec.weightGradient.gradient.element) && ofPairs)
    return ofPairs;
  return tileColumns(spec.out.columns, machine);
}

Pipe buildWeightGradient(const KernelSpec &spec, const Machine &machine,
                         const Names &names) {
  const WeightGradientSpec &s = spec.weightGradient;
  Var n(names("n")), k(names("k"));
  RVar r(names("r"));
  ImageParam gradient(typeOf(s.gradient.element), 2, names("gradient"));
  gradient.dim(1).set_stride(int(s.gradient.rowStride));
  ImageParam input = bufferOf(s.input, names("input"));
  Pipe pipe;
  pipe.arguments = {gradient, input};
  pipe.out = Func(names("out"));
  Func &out = pipe.out;
  RDom m(0, input.dim(1).extent(), names("m"));
  out(k, n) = undef<float>();
  out(k, n) += widened(gradient(n, input.dim(1).min() + m)) *
               widened(input(k, input.dim(1).min() + m));

  const int rows = weightGradientRows(spec, machine.wide),
            columns = tileColumns(spec.out.columns, machine);
  out.output_buffer().dim(1).set_stride(int(spec.out.rowStride));
  Var ki(names("ki")), kv(names("kv")), ni(names("ni")), block(names("block"));
  RVar chunk(names("chunk")), mi(names("mi"));
  out.update()
      .split(k, k, ki, columns, TailStrategy::GuardWithIf)
      .split(ki, ki, kv, machine.lanes)
      .split(n, block, n, blockColumns, TailStrategy::GuardWithIf)
      .split(n, n, ni, rows, TailStrategy::GuardWithIf)
      .split(m, chunk, mi, chunkRows, TailStrategy::GuardWithIf)
      .reorder(kv, ki, ni, mi, n, k, chunk, block)
      .vectorize(kv)
      .unroll(ki)
      .unroll(ni)
      // A last block or chunk that is not whole has whole tiles, too.
      .partition(chunk, Partition::Never)
      .partition(block, Partition::Never);
  pipe.passes.push_back(keepSums({out.name(), mi.name()}));
  return pipe;
}

} // namespace mille

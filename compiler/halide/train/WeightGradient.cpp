// out[n, k] += sum over m of gradient[m, n] input[m, k]: a register tile of the
// out adds a chunk of rows, and the out holds the sums between chunks.
// Must add rows in their order, and never split a sum: bits depend on no cut
// into tasks, and a batch in pieces gives those of a whole one.
#include "compiler/halide/Build.h"
#include "compiler/halide/Elements.h"
#include "compiler/halide/passes/KeepSums.h"
#include "compiler/halide/passes/Prefetch.h"

#include <numeric>

using namespace Halide;

namespace mille {
namespace {

// Rows of a chunk: what a tile of columns reads of the input lies in L2, beside
// a block of the gradient's columns, and the out's sums are seldom read and
// written: where its rows are multiples of 4 KiB, few of them lie in L2
// together.
constexpr int chunkRows = 512, blockColumns = 192;

// A chunk's rows lie apart and do not fit in L1, so nothing else brings the
// next ones there: without prefetches a core that starts two multiply-adds per
// cycle waits half of its time.
constexpr int rowsAhead = 12;

int tileColumns(const Machine &machine) {
  return (machine.wide ? 3 : 2) * machine.lanes;
}

} // namespace

int weightGradientRows(const KernelSpec &spec, bool wide) {
  return wide && spec.out.rows % 8 == 0 ? 8 : 6;
}

int weightGradientColumns(const KernelSpec &spec) {
  const int ofPairs = weightGradientColumnsOfPairs(spec),
            ofOnes = tileColumns(Machine());
  if (isBf16(spec.weightGradient.gradient.element) && ofPairs)
    return std::lcm(ofPairs, ofOnes); // a machine may have no pairs
  return ofOnes;
}

namespace {

class WeightGradient {
public:
  WeightGradient(const KernelSpec &spec, const Machine &machine,
                 const Names &names)
      : spec(spec), s(spec.weightGradient), machine(machine), names(names),
        tileRows(weightGradientRows(spec, machine.wide)),
        gradient(typeOf(s.gradient.element), 2, names("gradient")),
        input(bufferOf(s.input, names("input"))) {}

  // A task has whole tiles of columns, but for the last ones of the out.
  Pipe build() {
    gradient.dim(1).set_stride(int(s.gradient.rowStride));
    pipe.arguments = {gradient, input};
    pipe.out = Func(names("out"));
    pipe.out(k, n) = undef<float>();
    auto buffer = pipe.out.output_buffer();
    buffer.dim(1).set_stride(int(spec.out.rowStride));
    const int width = tileColumns(machine),
              left = int(spec.out.columns) % width;
    const Expr first = buffer.dim(0).min(), columns = buffer.dim(0).extent(),
               tiles = columns / width;
    if (spec.out.columns >= width)
      addTiles(first, tiles, width);
    if (left)
      addTiles(first + tiles * width, min(columns % width, 1), left);
    addPasses();
    return pipe;
  }

private:
  // Adds to `tiles` tiles of `width` columns of the out.
  void addTiles(const Expr &first, const Expr &tiles, int width) {
    RDom all(0, tiles, 0, width, 0, input.dim(1).extent(), names("all"));
    const Expr column = first + all.x * width + all.y,
               row = input.dim(1).min() + all.z;
    pipe.out(column, n) +=
        widened(gradient(n, row)) * widened(input(column, row));
    pipe.out.update(updates++)
        .allow_race_conditions() // no two columns are one
        .split(all.y, c, v, machine.lanes, TailStrategy::GuardWithIf)
        .split(n, block, n, blockColumns, TailStrategy::GuardWithIf)
        .split(n, n, ni, tileRows, TailStrategy::GuardWithIf)
        .split(all.z, chunk, m, chunkRows, TailStrategy::GuardWithIf)
        .reorder({v, c, ni, m, n, all.x, chunk, block})
        .vectorize(v)
        .unroll(c)
        .unroll(ni)
        // A last block or chunk that is not whole has whole tiles, too.
        .partition(chunk, Partition::Never)
        .partition(block, Partition::Never);
  }

  // Whether a chunk of the input leaves L2 before another block reads it: each
  // first pass over a tile of its columns would wait. On a Cascade Lake, 512
  // rows, 768 x 3072 takes 11 % less time, 768 x 768 and 3072 x 768 2 to 3 %;
  // 256 x 1024, which has few blocks, would take 2 % more.
  bool inputIsFar() const {
    constexpr int64_t bytesOfL2 = 1 << 20;
    return spec.out.rows > 2 * blockColumns &&
           chunkRows * spec.out.columns * int64_t(bytesOf(s.input.element)) >
               bytesOfL2;
  }

  void addPasses() {
    // Nothing else brings a tile's sums near, whose rows lie far apart.
    pipe.passes.push_back(keepSums({pipe.out.name(), m.name(), false,
                                    tileRows * int(spec.out.rowStride)}));
    for (const auto &[buffer, of] :
         {std::pair(gradient, s.gradient), std::pair(input, s.input)})
      pipe.passes.push_back(
          prefetchRows({buffer.name(), pipe.out.name(),
                        int(bytesOf(of.element)), rowsAhead}));
    if (machine.wide && inputIsFar())
      pipe.passes.push_back(prefetchNextTile(
          {input.name(), pipe.out.name(), n.name(),
           int(bytesOf(s.input.element)), tileColumns(machine), chunkRows}));
  }

  const KernelSpec &spec;
  const WeightGradientSpec &s;
  const Machine &machine;
  const Names &names;
  const int tileRows;
  int updates = 0;
  Pipe pipe;
  ImageParam gradient, input;
  Var n{names("n")}, k{names("k")}, ni{names("ni")}, block{names("block")};
  RVar chunk{names("chunk")}, m{names("m")}, c{names("c")}, v{names("v")};
};

} // namespace

Pipe buildWeightGradient(const KernelSpec &spec, const Machine &machine,
                         const Names &names) {
  return WeightGradient(spec, machine, names).build();
}

} // namespace mille

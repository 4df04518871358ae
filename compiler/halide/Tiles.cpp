// The model. Must depend on sizes and on the target alone: the tile is in the code.
#include "compiler/halide/Tiles.h"

#include <algorithm>
#include <sstream>

namespace mille {

Core coreOf(bool wide) {
  // AVX-512: of Skylake and Zen 4 what is less; AVX2: of Haswell and Zen 2.
  if (wide)
    return {32, 16, 2, 4, 2, 32, 1 << 20};
  return {16, 8, 2, 5, 2, 32, 512 << 10};
}

double StepCost::cycles() const {
  return std::max({multiplies, latency, loads, fromL2});
}

// A tile multiplies each vector of a panel's slice by one value of each row, which
// is loaded into all lanes.
StepCost costOf(const Core &core, int rows, int vectors) {
  return {double(rows) * vectors / core.multiplies, double(core.latency),
          double(rows + vectors) / core.loads,
          double(vectors) * core.lanes * 4 / core.bytesFromL2};
}

namespace {

struct Shape {
  int rows, vectors;
  double cycles, loads; // for a multiply-add
};

// Sums, a step's weights, and one value of a row.
bool fits(const Core &core, int rows, int vectors) {
  return rows * vectors + vectors + 1 <= core.registers;
}

// Fewest cycles for a multiply-add, then fewest loads: what is loaded once serves
// most sums.
Shape bestShape(const MatmulSpec &m, const Core &core) {
  const int all = int(m.panel) / core.lanes;
  Shape best{};
  for (int vectors = m.accumulators; vectors <= all; ++vectors)
    for (int rows = 2; fits(core, rows, vectors); ++rows) {
      if (all % vectors || vectors % m.accumulators)
        continue;
      const double sums = rows * vectors;
      Shape shape{rows, vectors, costOf(core, rows, vectors).cycles() / sums,
                  (rows + vectors) / sums};
      if (!best.rows || std::pair(shape.cycles, shape.loads) <
                            std::pair(best.cycles, best.loads))
        best = shape;
    }
  return best;
}

// Rows that a chunk's inputs are counted for: those of a batch of one.
constexpr int64_t rowsInL2 = 128;

// A step of a panel and of its rows is in L2 at once; three quarters of it may be.
int64_t stepsInL2(const MatmulSpec &m, const Core &core) {
  const int64_t step = 4 * (m.panel + rowsInL2);
  return core.bytesOfL2 * 3 / 4 / step;
}

int64_t stepsOf(const MatmulSpec &m) { return (m.inner + m.group() - 1) / m.group(); }

// Equal pieces of K that stay in L2. A sum that fits is whole: parking costs 1 %,
// and QKV of BERT-base (768 steps) in pieces of 384 was 5 % slower.
int chunkOf(const MatmulSpec &m, const Core &core) {
  const int64_t steps = stepsOf(m), most = stepsInL2(m, core);
  if (steps <= most)
    return int(steps);
  for (int64_t chunk = most; chunk >= most / 3; --chunk)
    if (steps % chunk == 0)
      return int(chunk);
  return int(steps);
}

} // namespace

MatmulTile matmulTileOf(const MatmulSpec &matmul, const Core &core) {
  Shape shape = bestShape(matmul, core);
  return {shape.rows, shape.vectors * core.lanes / matmul.accumulators,
          chunkOf(matmul, core)};
}

std::string explainTile(const MatmulSpec &m, const Core &core) {
  const MatmulTile tile = matmulTileOf(m, core);
  const int vectors = tile.columns * m.accumulators / core.lanes;
  const StepCost cost = costOf(core, tile.rows, vectors);
  const int64_t steps = stepsOf(m);
  std::ostringstream text;
  text << "tile of " << tile.rows << " rows x " << tile.columns << " columns";
  if (m.accumulators > 1)
    text << " x " << m.accumulators << " sums";
  text << ": " << tile.rows * vectors + vectors + 1 << " of " << core.registers
       << " registers; a step of K takes " << cost.multiplies
       << " cycles of multiply-adds, " << cost.loads << " of loads, " << cost.fromL2
       << " of L2; ";
  if (tile.chunk == steps)
    text << steps << " steps of K at once";
  else
    text << steps << " steps of K in pieces of " << tile.chunk;
  text << ", as " << stepsInL2(m, core) << " of a panel and " << rowsInL2
       << " rows fit the L2";
  return text.str();
}

} // namespace mille

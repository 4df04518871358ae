// The model of cores. Must depend on sizes and on the target alone, because the
// tile is part of the code.
#include "compiler/halide/matmul/Tiles.h"

#include <algorithm>
#include <sstream>
#include <tuple>

namespace mille {

Core coreOf(const CpuTraits &traits, bool narrow) {
  // AVX-512: the smaller number of Skylake and Zen 4; AVX2: of Haswell and Zen
  // 2. Software pipelining of f32 on cores with tile registers was not
  // measured.
  if (traits.wide)
    return {32,
            16,
            2,
            4,
            2,
            32,
            32 << 10,
            1 << 20,
            traits.tileRegisters && narrow ? 8 : 0,
            !traits.tileRegisters,
            !traits.looksFar,
            traits.looksFar,
            traits.bytes,
            traits.tileRegisters};
  Core core{16, 8, 2, 5, 2, 32, 32 << 10, 512 << 10};
  core.addsFour = traits.bytes;
  return core;
}

double StepCost::cycles() const {
  return std::max({multiplies, latency, loads, fromL2});
}

// A tile multiplies each vector of a panel's slice by one value of each row,
// which is loaded into all lanes.
StepCost costOf(const Core &core, int rows, int vectors) {
  return {double(rows) * vectors / core.multiplies, double(core.latency),
          double(rows + vectors) / core.loads,
          double(vectors) * core.lanes * 4 / core.bytesFromL2};
}

namespace {

struct Shape {
  int rows, vectors;
  double cycles, loads; // for a multiply-add

  bool operator<(const Shape &other) const {
    return std::tuple(cycles, loads, vectors, rows) <
           std::tuple(other.cycles, other.loads, other.vectors, other.rows);
  }
};

// Registers hold the sums, the weights of a step, and one value of a row.
bool fits(const Core &core, int rows, int vectors) {
  return rows * vectors + vectors + 1 <= core.registers;
}

// The best shapes: fewest cycles for a multiply-add, then fewest loads. Tiles
// have an even number of rows, as most counts of tokens are even: tiles of 9
// rows were no faster than tiles of 8, which leave room in the registers.
std::vector<Shape> bestShapes(const MatmulSpec &m, const Core &core,
                              size_t most) {
  const int all = int(m.panel) / core.lanes;
  std::vector<Shape> shapes;
  for (int vectors = m.accumulators; vectors <= all; ++vectors)
    for (int rows = 2; fits(core, rows, vectors); rows += 2) {
      if (all % vectors || vectors % m.accumulators)
        continue;
      const double sums = rows * vectors;
      shapes.push_back({rows, vectors,
                        costOf(core, rows, vectors).cycles() / sums,
                        (rows + vectors) / sums});
    }
  std::sort(shapes.begin(), shapes.end());
  shapes.resize(std::min(shapes.size(), most));
  return shapes;
}

// Puts the lowest shape first whose tiles, and those of a row less, wait for
// multipliers alone.
void lowestFirst(std::vector<Shape> &shapes, const Core &core) {
  auto lowest = shapes.begin();
  for (auto shape = shapes.begin(); shape != shapes.end(); ++shape) {
    const StepCost less = costOf(core, shape->rows - 1, shape->vectors);
    if (shape->rows < lowest->rows && shape->cycles <= shapes.front().cycles &&
        less.cycles() <= less.multiplies)
      lowest = shape;
  }
  std::rotate(shapes.begin(), lowest, lowest + 1);
}

// How many rows the class of few rows is counted with, in L2: those of a batch
// of one. And how many the class of many rows on a core that waits for L3:
// those of a task (runtime/Partition.cpp).
constexpr int64_t rowsInL2 = 128, rowsOfTask = 192;

// How many steps of K of so many columns and rows fit in three quarters of L2.
int64_t stepsInL2(const Core &core, int64_t columns, int64_t rows) {
  return core.bytesOfL2 * 3 / 4 / (4 * (columns + rows));
}

// Steps that fit in L2 for a panel, the next panel and the rows.
int64_t stepsOfTwoPanels(const MatmulSpec &m, const Core &core, int64_t rows) {
  return stepsInL2(core, 2 * m.panel, rows);
}

// Steps that fit in L2 for a panel, which all tiles read, and the rows of a
// tile: where there are many tiles each prefetches little of the next panel.
int64_t stepsOfOnePanel(const MatmulSpec &m, const Core &core, int rows) {
  return stepsInL2(core, m.panel, rows);
}

// The steps of equal pieces of K that stay in L2. A sum that fits is not cut:
// parking costs 1 %, tiles in pieces are not pipelined, and QKV of BERT-base
// (768 steps) in pieces of 384 was 5 % slower.
int chunkOf(const MatmulSpec &m, int64_t most) {
  const int64_t steps = m.steps();
  if (steps <= most)
    return int(steps);
  for (int64_t chunk = most; chunk >= most / 3; --chunk)
    if (steps % chunk == 0)
      return int(chunk);
  return int(steps);
}

// Whole sums read all of K for each panel, in which time L2 loses the rows; a
// core that hides the latency of L3 does not mind. Of a Cascade Lake's peak, in
// f32 at 128 and 512 rows, whole sums and pieces of 512 reach: with 1024 steps
// 89, 89 and 90, 88 %; with 1536 93, 92 and 93, 91 (89 and 93 in MiniLM at 128
// rows); with 2560 77, 80 and 90, 89; with 3072 80, 81 and 92, 92; with 4096
// 86, 88 and 92, 93. A panel of 1365 steps takes a quarter of its L2.
int chunkOfMany(const MatmulSpec &m, const Core &core, int rows) {
  if (!core.waitsForL3)
    return chunkOf(m, stepsOfOnePanel(m, core, rows));
  if (m.steps() * m.panel * 4 <= core.bytesOfL2 / 4)
    return int(m.steps());
  return chunkOf(m, stepsOfTwoPanels(m, core, rowsOfTask));
}

// A tile of tile registers, each 16 rows x 16 lanes: two rows of registers,
// with as many columns as leave two registers for the operands. More rows would
// leave more of the last tile empty.
constexpr int tileLanes = 16, tilesDown = 2;

int tilesAcross(const MatmulSpec &m, const Core &core) {
  int across = (core.tileRegisters - 2) / tilesDown;
  while (across > m.accumulators &&
         (m.panel / tileLanes % across || across % m.accumulators))
    --across;
  return across;
}

MatmulTile registerTileOf(const MatmulSpec &m, const Core &core) {
  return {tilesDown * tileLanes,
          tilesAcross(m, core) * tileLanes / m.accumulators, int(m.steps()),
          int(m.steps())};
}

// A row has two vectors of sums for each of a panel's: a block's integers, and
// what they stand for. A panel's vectors of levels and of scales, and two more,
// are in registers beside them.
int rowsOfBlockTile(const MatmulSpec &m, const Core &core) {
  const int vectors = int(m.panel) / core.lanes;
  const int rows = (core.registers - 2 * vectors - 2) / (2 * vectors);
  return std::clamp(rows / 2 * 2, 2, 8);
}

// Tile registers add up blocks where a measurement finds that faster
// (docs/decode.md, In tile registers).
std::vector<MatmulTile> blockTilesOf(const MatmulSpec &m, const Core &core) {
  const int steps = int(m.steps()), columns = int(m.panel / m.accumulators);
  std::vector<MatmulTile> tiles{
      {rowsOfBlockTile(m, core), columns, steps, steps}};
  if (core.sumsBlocksInTiles)
    tiles.push_back({tileLanes / m.accumulators, columns, steps, steps, true});
  return tiles;
}

std::string explainBlockTile(const MatmulSpec &m, const Core &core) {
  const MatmulTile tile{rowsOfBlockTile(m, core), int(m.panel / m.accumulators),
                        int(m.steps()), int(m.steps())};
  const int vectors = int(m.panel) / core.lanes;
  std::ostringstream text;
  text << "tile of " << inWords(tile, m) << ": a block of 32 levels takes "
       << 8 * tile.rows * vectors << " multiply-adds of integers and "
       << tile.rows * vectors << " of f32";
  return text.str();
}

// What a tile of so many rows has in registers: the two halves of each sum, two
// vectors of weights, one value of a row and one product.
int registersOfHalves(int rows) { return 2 * rows + 4; }

// Vector by vector of a panel, so that the most rows share the weights that are
// widened. Tiles of 12 rows were no faster on a Zen 4 with AVX-512.
MatmulTile tileOfHalves(const MatmulSpec &m, const Core &core) {
  int rows = 8;
  while (registersOfHalves(rows) > core.registers)
    rows -= 2;
  return {rows, int(m.panel / m.accumulators), int(m.steps()), int(m.steps())};
}

std::string explainTileOfHalves(const MatmulSpec &m, const Core &core) {
  const MatmulTile tile = tileOfHalves(m, core);
  std::ostringstream text;
  text << "tile of " << inWords(tile, m) << ", of " << core.lanes
       << " columns at a time: " << registersOfHalves(tile.rows) << " of "
       << core.registers << " registers; a step takes " << 2 * tile.rows
       << " products of pairs, widened to 16 bits";
  return text.str();
}

// The cost of a step of sixteen groups of K. The second row of registers reads
// the columns in reverse order, so that one load of weights serves both rows.
std::string explainRegisterTile(const MatmulSpec &m, const Core &core) {
  constexpr int multiply = 16, load = 8; // cycles
  const int across = tilesAcross(m, core), sums = tilesDown * across;
  std::ostringstream text;
  text << "tile of " << inWords(registerTileOf(m, core), m) << ": " << sums
       << " of " << core.tileRegisters
       << " tile registers hold sums; a step of 16 groups takes "
       << sums * multiply << " cycles of multiply-adds, "
       << (tilesDown + sums - (tilesDown - 1)) * load << " of loads";
  return text.str();
}

} // namespace

bool sumsMayWait(const KernelSpec &spec) {
  const MatmulSpec &m = spec.matmul;
  return !m.ofBlocks() && m.accumulators == 1 && !m.parks() &&
         m.inner % m.group() == 0 && spec.out.element == Element::f32;
}

std::vector<MatmulTile> tilesOf(const KernelSpec &spec, const Core &core) {
  const MatmulSpec &m = spec.matmul;
  if (core.tileRegisters)
    return {registerTileOf(m, core)};
  const int steps = int(m.steps());
  if (m.ofBlocks())
    return blockTilesOf(m, core);
  if (sumsInHalves(m, core))
    return {tileOfHalves(m, core)};
  std::vector<Shape> shapes = bestShapes(m, core, 4);
  if (isSmall(spec, core))
    lowestFirst(shapes, core);
  int chunk = steps, ofFew = steps;
  if (sumsMayWait(spec) && !widensPairs(m, core)) {
    ofFew = chunkOf(m, stepsOfTwoPanels(m, core, rowsInL2));
    chunk = core.pipelines ? chunkOfMany(m, core, shapes.front().rows) : ofFew;
  }
  std::vector<MatmulTile> tiles;
  for (const Shape &shape : shapes) {
    const int across = shape.vectors * core.lanes; // pieces are of whole panels
    const bool mayWait = across == m.panel;
    tiles.push_back({shape.rows, across / m.accumulators,
                     mayWait ? chunk : steps, mayWait ? ofFew : steps});
  }
  const MatmulTile best = tiles.front();
  if (best.chunkOfFew < steps)
    tiles.push_back({best.rows, best.columns, steps, steps});
  if (sumsMayWait(spec) && best.columns == m.panel && ofFew % 2 == 0 &&
      ofFew >= 512)
    tiles.push_back({best.rows, best.columns, ofFew / 2, ofFew / 2});
  if (best.chunkOfFew < best.chunk)
    tiles.push_back({best.rows, best.columns, ofFew, ofFew});
  return tiles;
}

bool sumsInHalves(const MatmulSpec &matmul, const Core &core) {
  return matmul.ofBytes() && !core.addsFour;
}

bool widensPairs(const MatmulSpec &matmul, const Core &core) {
  return matmul.isNarrow() && !matmul.ofBytes() && !core.addsPairs;
}

uint64_t bytesOfWidenedRows(const KernelSpec &spec) {
  const MatmulSpec &m = spec.matmul;
  int most = 0;
  for (bool wide : {false, true}) {
    CpuTraits traits;
    traits.wide = wide;
    traits.looksFar = !wide;
    traits.bytes = false;
    const Core core = coreOf(traits, true);
    if (!widensPairs(m, core) && !sumsInHalves(m, core))
      return 0;
    for (const MatmulTile &tile : tilesOf(spec, core))
      most = std::max(most, tile.rows);
  }
  constexpr uint64_t padding = 256; // more than Halide adds to an allocation
  const uint64_t each = m.ofBytes() ? sizeof(int16_t) : sizeof(float);
  return uint64_t(most) * uint64_t(m.inner) * each + padding;
}

bool laysRowsBeside(const MatmulSpec &matmul, const CpuTraits &traits) {
  constexpr int64_t manyValues = 768;
  return matmul.ofBlocks() && traits.oneStream &&
         (matmul.blocks.bits == 8 || matmul.inner >= manyValues);
}

uint64_t bytesOfRowsBeside(const KernelSpec &spec) {
  CpuTraits traits;
  traits.oneStream = true;
  const MatmulSpec &m = spec.matmul;
  if (!laysRowsBeside(m, traits))
    return 0;
  constexpr uint64_t padding = 256; // more than Halide adds to an allocation
  const uint64_t blocks = uint64_t(m.inner / inputBlock),
                 ofBlock = inputBlock + inputParameters * sizeof(float);
  return uint64_t(fewRowsOf(spec)) * blocks * ofBlock + 2 * padding;
}

bool keepsLevels(const MatmulSpec &matmul) {
  return matmul.ofBlocks() && matmul.blocks.bits < 8;
}

uint64_t bytesOfLevels(const KernelSpec &spec) {
  constexpr uint64_t padding = 256; // more than Halide adds to an allocation
  const MatmulSpec &m = spec.matmul;
  return keepsLevels(m) ? uint64_t(m.inner) * uint64_t(m.panel) + padding : 0;
}

uint64_t scratchOfMatmul(const KernelSpec &spec) {
  return bytesOfWidenedRows(spec) +
         std::max(bytesOfRowsBeside(spec), bytesOfLevels(spec));
}

KernelSpec withPanels(KernelSpec spec) {
  MatmulSpec &m = spec.matmul;
  if (spec.kind != KernelKind::matmul || !m.inRows())
    return spec;
  constexpr int64_t width = 64; // as devices read
  const int64_t columns = width / m.accumulators;
  m.panel = width;
  m.panels = (m.columns + columns - 1) / columns;
  return spec;
}

int fewRowsOf(const KernelSpec &spec) {
  const MatmulSpec &m = spec.matmul;
  const Core core = coreOf();
  return MatmulTile{m.ofBlocks() ? rowsOfBlockTile(m, core)
                                 : bestShapes(m, core, 1).front().rows,
                    0, 0, 0}
      .unshared();
}

bool isSmall(const KernelSpec &spec, const Core &core) {
  const MatmulSpec &m = spec.matmul;
  return !m.ofBlocks() &&
         4 * m.steps() * m.panel * m.panels <= core.bytesOfL1 / 2;
}

std::string inWords(const MatmulTile &tile, const MatmulSpec &m) {
  std::ostringstream text;
  const int64_t steps = m.steps();
  text << tile.rows << " rows x " << tile.columns << " columns";
  if (m.accumulators > 1)
    text << " x " << m.accumulators << " sums";
  text << ", " << steps << " steps of K ";
  if (tile.chunk == steps)
    text << "at once";
  else
    text << "in pieces of " << tile.chunk;
  if (tile.chunkOfFew != tile.chunk)
    text << ", of few rows " << (tile.chunk == steps ? "in pieces " : "")
         << "of " << tile.chunkOfFew;
  if (tile.inRegisters)
    text << ", many rows in tile registers";
  return text.str();
}

std::string explainTile(const KernelSpec &spec, const Core &core) {
  const MatmulSpec &m = spec.matmul;
  if (core.tileRegisters)
    return explainRegisterTile(m, core);
  if (m.ofBlocks())
    return explainBlockTile(m, core);
  if (sumsInHalves(m, core))
    return explainTileOfHalves(m, core);
  const MatmulTile tile = tilesOf(spec, core).front();
  const int vectors = tile.columns * m.accumulators / core.lanes;
  const StepCost cost = costOf(core, tile.rows, vectors);
  std::ostringstream text;
  text << "tile of " << inWords(tile, m) << ": "
       << tile.rows * vectors + vectors + 1 << " of " << core.registers
       << " registers; a step takes " << cost.multiplies
       << " cycles of multiply-adds, " << cost.loads << " of loads, "
       << cost.fromL2 << " of L2; " << stepsOfTwoPanels(m, core, rowsInL2)
       << " steps of two panels and of " << rowsInL2 << " rows fit the L2";
  if (core.waitsForL3)
    text << ", " << stepsOfTwoPanels(m, core, rowsOfTask) << " of "
         << rowsOfTask << " rows, and a panel of "
         << core.bytesOfL2 / 4 / (4 * m.panel)
         << " steps takes a quarter of it";
  else if (core.pipelines)
    text << ", " << stepsOfOnePanel(m, core, tile.rows)
         << " of one panel and a tile's rows";
  if (isSmall(spec, core))
    text << "; the weight fits half of L1: one short kernel for all rows";
  return text.str();
}

} // namespace mille

// The model counts cycles of a multiprocessor: those of the tensor cores, of
// the epilogue beside or after them, and those of units that have no tile left.
// Its constants are fitted to an H200 (docs/cuda.md). Must not see a device.
#include "compiler/nvvm/Tiles.h"

#include "compiler/nvvm/NormBehind.h"
#include "compiler/nvvm/NormedMatmul.h"
#include "compiler/nvvm/Region.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cmath>

namespace mille::nvvm {

constexpr unsigned units = 132;
// What a step of few rows takes beside its weights, in columns of them.
constexpr int64_t stepColumns = 16;
// The numbers of rows that the tile is chosen for, and how much each counts: a
// text, and batches.
constexpr int64_t likelyRows[] = {512, 4096, 12288};
constexpr double weightOfRows[] = {0.05, 0.35, 0.6};
// What a sum of bytes takes to become a number: mostly the load of the weight
// that its row's outlier meets (not measured).
constexpr double byteInstructions = 12;
// As far as the model has been wrong.
constexpr double nearlyAsGood = 1.3;

//===-- The model ---------------------------------------------------------===//

namespace {
struct Candidate {
  MatmulTile tile;
  double efficiency; // of the tensor cores, between epilogues
};
} // namespace

// An H200 at work on large products is bound by its power: what matters then is
// how few bytes move and instructions run, more than whether the tensor cores
// are fed.
static const Candidate candidates[] = {
    {{192, 2, 1, true}, 1.00},   {{128, 2, 1, true}, 0.95},
    {{256, 1, 1, false}, 0.93},  {{192, 1, 1, false}, 0.90},
    {{128, 1, 1, false}, 0.80},  {{256, 1, 1, true}, 0.88},
    {{256, 1, 2, false}, 0.925}, {{128, 1, 1, true}, 0.66}};

// Instructions for an element of the out.
static double epilogueInstructions(const KernelSpec &spec) {
  double count = 1.4 + instructionsOf(spec.matmul.epilogue);
  if (spec.matmul.ofBytes())
    count += byteInstructions * spec.matmul.accumulators;
  if (spec.out.element == Element::f32)
    count += 2; // two words in place of one, and their order
  for (const BufferSpec &extra : spec.matmul.extras)
    if (extra.reading == Reading::element)
      count += 3;
    else if (extra.reading == Reading::column)
      count += 0.5;
  return count;
}

// Tensor cores take as many bytes of K in a cycle whatever these are.
static double bytesOfRow(const MatmulSpec &matmul) {
  return double(matmul.inner * bytesOf(matmul.input.element));
}

static int64_t stepsOf(const MatmulSpec &matmul) {
  const int64_t step = stepOf(matmul);
  return (matmul.inner + step - 1) / step;
}

static double efficiencyOf(const MatmulTile &tile) {
  for (const Candidate &candidate : candidates)
    if (candidate.tile == tile)
      return candidate.efficiency;
  return 1;
}

// Cycles for so many rows. An epilogue in turns lies beside the other group's
// products, unless it takes longer than they do.
static double cyclesOf(const KernelSpec &spec, const MatmulTile &tile,
                       int64_t rows) {
  const MatmulLayout layout(spec, tile);
  const double size = double(tile.rows()) * tile.columns / (128 * 256);
  const double products =
      8.0 * bytesOfRow(spec.matmul) * size / efficiencyOf(tile);
  const double epilogue =
      256 * epilogueInstructions(spec) * size / spec.matmul.accumulators +
      2000 * size;
  const int64_t high = tile.rows() * tile.cluster;
  const int64_t tiles =
      (rows + high - 1) / high * tile.cluster *
      ((spec.matmul.columns + layout.outColumns - 1) / layout.outColumns);
  const double waves = std::ceil(double(tiles) / units);
  if (!tile.pingPong)
    return waves * (products + epilogue);
  return waves * std::max(products, (products + 2 * epilogue) / 2) + epilogue;
}

static bool fits(const KernelSpec &spec, const MatmulTile &tile) {
  // The numbers that sums of bytes stand for take registers (192 bytes spilled
  // with an extra by element).
  if (spec.matmul.ofBytes() && tile.columns * tile.blocks > 256)
    return false;
  // A step's sums lie beside those of all, and groups add them at other times.
  if (sumsBySteps(spec.matmul) &&
      (tile.columns * tile.blocks > 192 || tile.pingPong))
    return false;
  const MatmulLayout layout(spec, tile);
  return layout.panels > 0 && layout.outColumns % layout.panelColumns == 0 &&
         layout.stages >= 3;
}

std::vector<MatmulTile> matmulTiles(const KernelSpec &spec) {
  if (spec.matmul.experts)
    return {expertsTile(spec.matmul, false)};
  std::vector<std::pair<double, MatmulTile>> rated;
  std::vector<double> best(std::size(likelyRows), HUGE_VAL);
  for (const Candidate &candidate : candidates)
    if (fits(spec, candidate.tile))
      for (auto [i, rows] : llvm::enumerate(likelyRows))
        best[i] = std::min(best[i], cyclesOf(spec, candidate.tile, rows));
  for (const Candidate &candidate : candidates) {
    if (!fits(spec, candidate.tile))
      continue;
    double ratio = 0;
    for (auto [i, rows] : llvm::enumerate(likelyRows))
      ratio += weightOfRows[i] * cyclesOf(spec, candidate.tile, rows) / best[i];
    rated.push_back({ratio, candidate.tile});
  }
  // Of equal ones the earlier candidate.
  for (size_t i = 1; i < rated.size(); ++i)
    for (size_t j = i; j && rated[j].first < rated[j - 1].first; --j)
      std::swap(rated[j], rated[j - 1]);
  std::vector<MatmulTile> tiles;
  for (const auto &[ratio, tile] : rated)
    if (ratio <= rated.front().first * nearlyAsGood)
      tiles.push_back(tile);
  return tiles;
}

//===-- Few rows ----------------------------------------------------------===//

// The width whose slowest unit takes least, for one tile of rows, which counts
// twice, and for two: a narrow tile makes more blocks, each of which reads
// fewer weights but has as many steps. Half of the units read at half the speed
// (an H200: 34 MB by 64 blocks take 11.9 us, 36 % of a copy's bandwidth).
FewRowsTile fewRowsTile(const MatmulSpec &matmul) {
  FewRowsTile tile;
  int64_t least = INT64_MAX;
  for (unsigned columns : {8, 16, 24, 32, 64}) {
    // Two blocks of a unit have registers for so many sums, and a step's.
    if (sumsBySteps(matmul) && columns * matmul.accumulators > 64)
      break;
    const int64_t across = (matmul.columns + columns - 1) / columns;
    int64_t cost = 0;
    for (int64_t rowTiles : {1, 1, 2}) {
      const int64_t waves = (across * rowTiles + units - 1) / units;
      cost += waves * (columns * matmul.accumulators + stepColumns);
    }
    if (cost > least)
      continue;
    least = cost;
    tile.columns = columns;
  }
  return tile;
}

// Beyond, the tiles of many rows keep a quarter of the units busy, and read
// weights less often.
unsigned fewRowsOf(const MatmulSpec &matmul) {
  const int64_t across = (matmul.columns + 127) / 128;
  return unsigned(std::clamp<int64_t>(128 * (30 / across), 64, 256));
}

//===-- Experts -----------------------------------------------------------===//

// An expert of a short run has a row or two, so that reading its weight takes
// longest, and blocks of few columns are many.
MatmulTile expertsTile(const MatmulSpec &matmul, bool few) {
  MatmulTile tile;
  tile.columns = few ? 64 : sumsBySteps(matmul) ? 128 : 256;
  return tile;
}

//===-- Parts of f32 ------------------------------------------------------===//

PartsTile partsTile(const MatmulSpec &matmul, bool few) {
  PartsTile tile;
  if (!few)
    return tile;
  tile.groups = 1;
  tile.columns = 32 * matmul.accumulators;
  return tile;
}

// A step of a narrow tile takes less than half as long as a wide one's: two
// rounds of them are as fast as one.
unsigned partsFewRows(const MatmulSpec &matmul) {
  const int64_t across = columnTilesOf(matmul, 32);
  return unsigned(64 * std::clamp<int64_t>(2 * units / across, 1, 16));
}

std::string explainParts(const KernelSpec &spec) {
  const PartsTile many = partsTile(spec.matmul, false),
                  few = partsTile(spec.matmul, true);
  auto words = [](const PartsTile &tile) {
    return std::to_string(tile.rows()) + " x " + std::to_string(tile.columns);
  };
  return "six products of bf16 parts for each of f32, in tiles of " +
         words(many) + "; up to " +
         (spec.matmul.experts
              ? std::to_string(expertsFewRows) + " rows an expert"
              : std::to_string(partsFewRows(spec.matmul)) + " rows") +
         ": " + words(few);
}

//===-- Whole rows --------------------------------------------------------===//

// Clusters of whole units that an H200 holds at a time, by its driver. Blocks
// of a cluster are in one group of units.
static int64_t clustersAtOnce(int64_t cluster) {
  return 7 * (16 / cluster) + 8 / cluster;
}

// The tile whose last wave leaves least idle, or, of few rows, the narrowest.
// With 256 columns registers do not suffice (828 bytes spilled).
NormedTile normedTile(const KernelSpec &spec, bool few) {
  const int64_t across = spec.matmul.columns, mostClusters = few ? 16 : 8;
  NormedTile best;
  best.columns = 0;
  double least = HUGE_VAL;
  for (int64_t columns = 64; columns <= 192; columns += 64) {
    if (across % columns || across / columns > mostClusters)
      continue;
    NormedTile tile;
    tile.columns = unsigned(columns);
    tile.cluster = unsigned(across / columns);
    tile.groups = few ? 1 : 2;
    const int64_t tiles = likelyRows[std::size(likelyRows) - 1] / tile.rows();
    const double cost =
        few ? double(columns)
            : std::ceil(double(tiles) / clustersAtOnce(tile.cluster)) * columns;
    if (cost < least) {
      least = cost;
      best = tile;
    }
  }
  return best;
}

// Cycles of a step of K in a block that reads rows and columns: of the tensor
// cores, and of 64 bytes that a unit reads in a cycle.
static double stepCycles(double rows, double columns) {
  return std::max(rows * columns / 32, 2 * (rows + columns));
}

// Of many rows. What a wave takes beside its products is fitted to an H200 (133
// and 73 us for 12288 rows of 3072 and of 768 values to 768 columns).
static double normedCycles(const KernelSpec &spec, int64_t rows) {
  constexpr double outs = 19500; // statistics, their exchange, and the outs
  const NormedTile tile = normedTile(spec, false);
  const int64_t tiles = (rows + tile.rows() - 1) / tile.rows();
  return std::ceil(double(tiles) / clustersAtOnce(tile.cluster)) *
         (spec.matmul.inner / 64 * stepCycles(tile.rows(), tile.columns) +
          outs);
}

std::optional<MatmulTile> tileBehindNorm(const KernelSpec &spec) {
  const std::optional<KernelSpec> product = productBehindNorm(spec);
  if (!product)
    return std::nullopt;
  const std::vector<MatmulTile> tiles = matmulTiles(*product);
  if (tiles.empty())
    return std::nullopt;
  double ratio = 0; // of two launches' time to that of one
  for (auto [i, rows] : llvm::enumerate(likelyRows))
    ratio +=
        weightOfRows[i] *
        (cyclesOf(*product, tiles.front(), rows) + normCycles(spec, rows)) /
        normedCycles(spec, rows);
  return ratio < 1 ? std::optional(tiles.front()) : std::nullopt;
}

// As many waves of narrow tiles as take less time than one of wide tiles.
unsigned normedFewRows(const KernelSpec &spec) {
  if (!whyNotMatmul(spec).empty())
    return 0;
  const NormedTile few = normedTile(spec, true), many = normedTile(spec, false);
  const double waves = stepCycles(many.rows(), many.columns) /
                       stepCycles(few.rows(), few.columns);
  return few.rows() * clustersAtOnce(few.cluster) *
         std::max(1u, unsigned(std::ceil(waves)) - 1);
}

// Few rows in clusters read the weights with
// fewer units, which must not take longer than another launch.
static bool fewRowsTakeLonger(const KernelSpec &spec) {
  constexpr double launch = 5000; // cycles, with the norm's reads and writes
  auto cycles = [&](unsigned columns) {
    return spec.matmul.inner / 64 * stepCycles(fewRowsOfTile, columns);
  };
  return cycles(normedTile(spec, true).columns) >
         cycles(fewRowsTile(spec.matmul).columns) + launch;
}

static std::string whyNotJoined(const KernelSpec &spec,
                                const JoinedRows &joined) {
  for (auto [source, input] : llvm::zip(joined.sources, joined.rows.inputs))
    if (source > 0 && isHalf(spec.joined[source - 1].out.element))
      return "joined rows read a rounded out";
    else if (source < 0 && !isFloat(input.element))
      return "joined rows read integers";
  if (joined.rows.columns != spec.matmul.columns)
    return "joined rows have other columns";
  return whyNoRegion(joined.rows.body);
}

std::string whyNotNormed(const KernelSpec &spec) {
  const JoinedRows &first = spec.joined.front();
  if (first.rows.norm == RowStatistic::none || first.sources[0] != 0 ||
      first.rows.group != spec.matmul.columns)
    return "the first joined rows do not norm whole rows of the product";
  if (spec.out.element != Element::f32 || spec.matmul.accumulators > 1)
    return "what is normed is no f32 of one product";
  for (const JoinedRows &joined : spec.joined) {
    if (std::string why = whyNotJoined(spec, joined); !why.empty())
      return why;
    if (&joined != &first && joined.rows.norm != RowStatistic::none)
      return "it has two norms";
  }
  for (const BufferSpec &out : spec.outs())
    if (!isFloat(out.element) || out.rowStride * bytesOf(out.element) % 16)
      return "an out has no tensor map";
  if (!normedTile(spec, true).columns || !normedTile(spec, false).columns)
    return std::to_string(spec.matmul.columns) +
           " columns are not those of a cluster";
  if (fewRowsTakeLonger(spec))
    return "few rows would take longer than in two launches";
  return "";
}

//===-- Words -------------------------------------------------------------===//

std::string whyNotMatmul(const KernelSpec &spec) {
  const MatmulSpec &m = spec.matmul;
  if (m.ofBlocks())
    return "its weight is in blocks";
  if (m.heads)
    return "it has a weight for each head";
  if (!m.inRows())
    return "its weight is in panels";
  if (m.accumulators > 2)
    return "it has " + std::to_string(m.accumulators) + " accumulators";
  const int64_t bytes = bytesOf(m.input.element);
  if (m.inner * bytes % 16)
    return "K is " + std::to_string(m.inner) +
           ", whose rows are not multiples of 16 bytes";
  if (m.input.rowStride * bytes % 16)
    return "rows of its input are " + std::to_string(m.input.rowStride) +
           " elements apart, which are not multiples of 16 bytes";
  for (const BufferSpec &extra : m.extras)
    if (!isFloat(extra.element))
      return "an extra is no float";
  if (!isFloat(spec.out.element))
    return "its out is no float";
  if (std::string why = whyNoRegion(m.epilogue); !why.empty())
    return why;
  if (!spec.joined.empty() && (isOfParts(m) || bytes == 1 || m.experts))
    return "its rows are normed, but it is of f32, of bytes or of experts";
  if (!spec.joined.empty())
    return whyNotNormed(spec);
  const bool fits = isOfParts(m) ? fitsParts(spec, partsTile(m, false))
                                 : !matmulTiles(spec).empty();
  return fits ? "" : "no tile has room for its operands";
}

std::string wordsOf(const MatmulTile &tile) {
  std::string text =
      std::to_string(tile.rows()) + " x " + std::to_string(tile.columns);
  text += tile.pingPong ? ", groups in turns" : ", both groups";
  if (tile.cluster > 1)
    text += ", clusters of " + std::to_string(tile.cluster);
  return text;
}

static std::string rounded(double number) {
  return std::to_string(int64_t(std::lround(number)));
}

std::string explainTile(const KernelSpec &spec, const MatmulTile &tile) {
  const int64_t rows = likelyRows[std::size(likelyRows) - 1];
  const double ideal = double(rows) * spec.matmul.columns *
                       spec.matmul.accumulators * bytesOfRow(spec.matmul) /
                       4096 / units;
  const MatmulLayout layout(spec, tile);
  return "tiles of " + wordsOf(tile) + ", " + std::to_string(layout.stages) +
         " stages of K: " + rounded(epilogueInstructions(spec)) +
         " instructions for an element after " +
         std::to_string(stepsOf(spec.matmul)) + " steps; the model expects " +
         rounded(100 * ideal / cyclesOf(spec, tile, rows)) +
         " % of the tensor cores' peak at " + std::to_string(rows) + " rows";
}

std::string explainNormed(const KernelSpec &spec) {
  const std::optional<MatmulTile> tile = tileBehindNorm(spec);
  return "tiles of " +
         (tile ? wordsOf(*tile) + ", and the norm in a launch behind"
               : wordsOf(normedTile(spec, false))) +
         "; few rows: " + wordsOf(normedTile(spec, true));
}

std::string explainExperts(const MatmulSpec &matmul) {
  return "tiles of " + wordsOf(expertsTile(matmul, false)) + "; up to " +
         std::to_string(expertsFewRows) +
         " rows an expert: " + wordsOf(expertsTile(matmul, true));
}

std::string explainTile(const MatmulSpec &matmul, const FewRowsTile &tile) {
  return "up to " + std::to_string(fewRowsOf(matmul)) + " rows: tiles of " +
         wordsOf(matmul, tile) + ", since reading weights takes longest";
}

} // namespace mille::nvvm

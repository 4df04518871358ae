// The sizes of an attention kernel, the launch that they need, and the tiles
// that were measured. Must not build code.
#include "compiler/nvvm/AttentionPlan.h"

#include <algorithm>

namespace mille::nvvm {

using Optional = AttentionOperand;

static unsigned panelsOf(int64_t columns) {
  return unsigned((columns + lineColumns - 1) / lineColumns);
}

AttentionPlan::AttentionPlan(const KernelSpec &spec, const AttentionTile &tile)
    : s(spec.attention), tile(tile) {
  queries = groupQueries * queryGroups();
  headPanels = panelsOf(s.headDim);
  valuePanels = panelsOf(s.valueDim);
  queryPanel = queries * lineBytes;
  keyPanel = tile.keys * lineBytes;
  if (byParts()) {
    placeParts();
    return;
  }
  queryBytes = queryPanel * headPanels;
  keyBytes = keyPanel * headPanels;
  valueBytes = keyPanel * valuePanels;
  const unsigned outBytes = queryPanel * valuePanels;
  // Queries that are done make room for an out of as many panels.
  const unsigned queryRoom = std::max(queryBytes, outBytes);
  keysAt = tile.persistent ? queryBytes : queryRoom;
  valuesAt = keysAt + tile.stages * keyBytes;
  const unsigned end = valuesAt + tile.stages * valueBytes;
  outAt = tile.persistent ? end : 0;
  barriersAt = end + (tile.persistent ? outBytes : 0);
  sharedBytes = barriersAt + 8 * ringBarriers + 48 * tile.stages;
}

// Each panel of queries, of a group's, of keys and of values in three parts.
// What arrives is in lines of 32 columns, two for a panel.
void AttentionPlan::placeParts() {
  queryPanel = groupQueries * lineBytes;
  queryBytes = std::max(headPanels * parts, 2 * valuePanels) * queryPanel;
  keyBytes = headPanels * parts * keyPanel;
  valueBytes = valuePanels * parts * keyPanel;
  rawStages = headPanels * valuePanels == 1 ? 4 : 2;
  keysAt = queryGroups() * queryBytes;
  valuesAt = keysAt + tile.stages * keyBytes;
  rawAt = valuesAt + tile.stages * valueBytes;
  outAt = 0;
  barriersAt = rawAt + rawStages * rawBytes;
  sharedBytes = rawRingAt() + 16 * rawStages;
}

bool AttentionPlan::changesScores() const {
  return s.softcap > 0 || !s.slopes.empty() || s.scale <= 0 ||
         s.has(Optional::keyHeadBias) || s.has(Optional::queryScale) ||
         s.has(Optional::headScale) || s.has(Optional::bias);
}

unsigned AttentionPlan::producerRegisters() const {
  if (byParts())
    return 56;
  if (tile.groups == 3)
    return 32;
  return prepares() ? 40 : 24;
}
unsigned AttentionPlan::consumerRegisters() const {
  if (byParts())
    return 224;
  if (tile.groups == 3)
    return 160;
  return prepares() ? 232 : 240;
}

//===-- The launch --------------------------------------------------------===//

// A buffer's heads as a tensor [sequence, row, head, column in head]: columns
// past a head read as 0.
static std::vector<Dimension> headsOf(const BufferSpec &buffer, int64_t size,
                                      int64_t heads, uint32_t rows,
                                      unsigned boxRows) {
  const uint32_t bytes = bytesOf(buffer.element),
                 row = uint32_t(bytes * buffer.rowStride);
  return {{constantAmount(size), {}, lineBytes / bytes},
          {constantAmount(heads), constantAmount(bytes * size), 1},
          {amountOf(rows), constantAmount(row), boxRows},
          {amountOf(MILLE_COUNT_SEQUENCES), amountOf(rows, row), 1}};
}

AttentionArguments describeLaunch(const KernelSpec &spec,
                                  const AttentionPlan &plan, Launch &launch) {
  const AttentionSpec &s = plan.s;
  AttentionArguments numbers;
  uint32_t buffer = 3;
  uint32_t buffers[attentionOperands] = {};
  for (int i = 0; i < attentionOperands; ++i)
    if (s.optional[i])
      buffers[i] = buffer++;
  auto all = [](const BufferSpec &of, int64_t size) {
    return of.columns / size;
  };
  numbers.query =
      launch.addTensor(0, headsOf(s.query, s.headDim, all(s.query, s.headDim),
                                  MILLE_COUNT_QUERIES, groupQueries));
  numbers.key =
      launch.addTensor(1, headsOf(s.key, s.headDim, all(s.key, s.headDim),
                                  MILLE_COUNT_KEYS, plan.tile.keys));
  numbers.value =
      launch.addTensor(2, headsOf(s.value, s.valueDim, all(s.value, s.valueDim),
                                  MILLE_COUNT_KEYS, plan.tile.keys));
  numbers.out =
      launch.addTensor(buffer, headsOf(spec.out, s.valueDim, s.heads,
                                       MILLE_COUNT_QUERIES, groupQueries));
  numbers.queries = launch.addScalar(0);
  numbers.keys = launch.addScalar(1);
  numbers.first = launch.addScalar(2);
  const mille_amount blocks = amountOf(MILLE_COUNT_QUERIES, 1, plan.queries);
  numbers.queryBlocks = launch.addAmount(blocks);
  numbers.sequences = launch.addAmount(amountOf(MILLE_COUNT_SEQUENCES));
  for (int i = 0; i < attentionOperands; ++i)
    if (s.optional[i])
      numbers.optional[i] = launch.addAddress(buffers[i]);
  launch.threads = plan.threads();
  launch.sharedBytes = plan.sharedBytes;
  launch.overlaps = true;
  launch.tiles = {blocks, constantAmount(s.heads),
                  amountOf(MILLE_COUNT_SEQUENCES)};
  launch.blocksPerUnit = plan.tile.persistent ? 1 : 0;
  return numbers;
}

//===-- Tiles -------------------------------------------------------------===//

// Three parts of all columns of the queries, of a block's keys and of its
// values are in shared memory; wider heads have fewer queries and keys there. A
// group's registers hold the sums of 192 columns of values.
static AttentionTile tileOfParts(const AttentionSpec &s) {
  const int64_t columns = std::max(s.headDim, s.valueDim);
  if (columns <= 64)
    return {2, 64, 2, true, false};
  if (columns <= 128)
    return {2, 64, 1, true, false};
  const bool shares = s.valueDim > 192;
  return {shares ? 2u : 1u, 32, 1, shares, false, shares};
}

// Measured on an H200 (26 November 2026), in TFLOP/s at 384, 1024, 4096 and
// 16384 tokens, 16384 rows in all:
//   64 columns, all keys: 2 groups, 128 keys, persistent 366, 423, 445, 452; 3
//     groups 315, 363, 446, 482. 160 and 192 keys: 210, -, 420, 440 and less.
//     Causal: 2 groups, persistent -, -, 377, 423; 3 groups 145, 227, 362, 443.
//   128 columns: 128 keys in turns 399, 548, 660, 619; 176 keys are 2 % less.
//     Causal, in one run: persistent -, -, 539, 583; else -, -, 513, 598.
//   256 columns: 80 keys -, -, 718, 712. Causal 238, 449, 691, 775.
// A polynomial for each 8th or 4th exponential makes all of them slower, by 5
// to 15 %: the scheduler issues as many instructions as it can.
std::vector<AttentionTile> attentionTiles(const KernelSpec &spec) {
  const AttentionSpec &s = spec.attention;
  const int64_t columns = std::max(s.headDim, s.valueDim);
  std::vector<AttentionTile> wanted;
  if (s.query.element == Element::f32)
    wanted = {tileOfParts(s)};
  else if (columns <= 64)
    wanted = {{2, 128, 3, true, true}, {3, 128, 3, true, false}};
  else if (columns <= 96)
    wanted = {{2, 144, 2, true, false}, {2, 128, 2, true, false}};
  else if (columns <= 128 && !s.causal)
    wanted = {{2, 128, 2, true, false}, {2, 176, 2, true, false}};
  else if (columns <= 128)
    wanted = {{2, 128, 2, true, true}, {2, 128, 2, true, false}};
  else if (columns <= 192)
    wanted = {{2, 112, 2, true, false}};
  else
    wanted = {{2, 80, 2, false, false}};
  return wanted;
}

std::optional<LongTile> tileOfLong(const KernelSpec &spec) {
  const std::vector<AttentionTile> tiles = attentionTiles(spec);
  // With other blocks of keys a row would have other bits.
  if (tiles.size() < 2 || tiles.back().keys != tiles.front().keys ||
      AttentionPlan(spec, tiles.back()).changesScores())
    return std::nullopt;
  return LongTile{tiles.back(), 4096};
}

std::string wordsOfAttention(const KernelSpec &spec) {
  std::string words = wordsOf(attentionTiles(spec).front());
  if (std::optional<LongTile> other = tileOfLong(spec))
    words += "; of more than " + std::to_string(other->mostQueries) +
             " queries: " + wordsOf(other->tile);
  return words;
}

std::string wordsOf(const AttentionTile &tile) {
  const unsigned queries = tile.sharesQueries ? 1 : tile.groups;
  return std::to_string(queries * groupQueries) + " queries by " +
         std::to_string(tile.keys) + " keys" +
         (tile.sharesQueries ? ", two groups" : "") +
         (tile.inTurns ? ", groups in turns" : "") +
         (tile.persistent ? ", persistent" : "");
}

} // namespace mille::nvvm

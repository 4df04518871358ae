// The sizes of an attention kernel, the launch that they need, and the tiles
// that were measured. Must not build code.
#include "compiler/nvvm/AttentionPlan.h"
#include "compiler/nvvm/Fragments.h"

#include <algorithm>

namespace mille::nvvm {

using Optional = AttentionOperand;

static unsigned panelsOf(int64_t columns) {
  return unsigned((columns + panelColumns - 1) / panelColumns);
}

AttentionPlan::AttentionPlan(const KernelSpec &spec, const AttentionTile &tile)
    : s(spec.attention), tile(tile) {
  queries = groupQueries * tile.groups;
  headPanels = panelsOf(s.headDim);
  valuePanels = panelsOf(s.valueDim);
  queryPanel = queries * lineBytes;
  keyPanel = tile.keys * lineBytes;
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

bool AttentionPlan::changesScores() const {
  return s.softcap > 0 || !s.slopes.empty() || s.scale <= 0 ||
         s.has(Optional::keyHeadBias) || s.has(Optional::queryScale) ||
         s.has(Optional::headScale) || s.has(Optional::bias);
}

unsigned AttentionPlan::producerRegisters() const {
  if (tile.groups == 3)
    return 32;
  return prepares() ? 40 : 24;
}
unsigned AttentionPlan::consumerRegisters() const {
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
  const uint32_t row = uint32_t(2 * buffer.rowStride);
  return {{constantAmount(size), {}, panelColumns},
          {constantAmount(heads), constantAmount(2 * size), 1},
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

// A first version of these kernels was measured on an H200 beside cuDNN 9 (26
// November 2026), in TFLOP/s at 512 and at 16384 tokens:
//   64 columns, all keys: 2 groups, 192 keys, persistent 357, 464 (cuDNN 386,
//     464); 3 groups, 128 keys 313, 492. Causal: 2 groups, 128 keys, persistent
//     250, 440 (247, 443); 3 groups 180, 453.
//   128 columns: 128 keys in turns 449, 614 (539, 615); 176 keys 439, 628.
//     Causal: 128 keys 277, 616 (318, 562); persistent 324, 544.
//   256 columns: 80 keys 494, 681 (534, 662). Causal 320, 683 (330, 601).
std::vector<AttentionTile> attentionTiles(const KernelSpec &spec) {
  const AttentionSpec &s = spec.attention;
  const int64_t columns = std::max(s.headDim, s.valueDim);
  std::vector<AttentionTile> wanted;
  const bool plain = !AttentionPlan(spec, {}).changesScores();
  if (columns <= 64 && !s.causal && plain) // else 192 keys spill
    wanted = {{2, 192, 2, true, true}, {3, 128, 3, true, false}};
  else if (columns <= 64)
    wanted = {{2, 128, 3, true, true}, {3, 128, 3, true, false}};
  else if (columns <= 96)
    wanted = {{2, 144, 2, true, false}, {2, 128, 2, true, false}};
  else if (columns <= 128 && !s.causal)
    wanted = {{2, 128, 2, true, false}, {2, 176, 2, true, false}};
  else if (columns <= 128)
    wanted = {{2, 128, 2, true, false}, {2, 128, 2, true, true}};
  else if (columns <= 192)
    wanted = {{2, 112, 2, true, false}};
  else
    wanted = {{2, 80, 2, false, false}};
  return wanted;
}

std::string wordsOf(const AttentionTile &tile) {
  return std::to_string(tile.groups * groupQueries) + " queries by " +
         std::to_string(tile.keys) + " keys" +
         (tile.inTurns ? ", groups in turns" : "") +
         (tile.persistent ? ", persistent" : "");
}

} // namespace mille::nvvm

// The sizes, the launch, the tiles and the producer of an attention to states.
// Must not multiply.
#include "compiler/nvvm/StateAttentionKernel.h"

#include <algorithm>

namespace mille::nvvm {

using Optional = AttentionOperand;

//===-- Sizes -------------------------------------------------------------===//

StatePlan::StatePlan(const KernelSpec &spec, bool few)
    : s(spec.attention), spec(spec), few(few) {
  auto over = [](int64_t a, int64_t b) { return unsigned((a + b - 1) / b); };
  heads = unsigned(std::min<int64_t>(s.group(), rows));
  headTiles = over(s.group(), heads);
  queries = rows / heads;
  boxQueries = over(rows, heads);
  headPanels = over(s.headDim, lineColumns);
  valuePanels = over(s.valueDim, lineColumns);
  const unsigned lines = boxQueries * heads;
  queryPanel = over(lines, 8) * 8 * lineBytes;
  keyPanel = stateKeys * lineBytes;
  queryBytes = headPanels * lines * lineBytes;
  keyBytes = headPanels * keyPanel;
  valueBytes = valuePanels * keyPanel;
  keysAt = headPanels * queryPanel;
  // Two blocks of threads share a unit: while one takes a softmax, the other
  // multiplies.
  constexpr unsigned room = 100 << 10;
  stages = std::clamp((room - keysAt) / (keyBytes + valueBytes), 2u, 4u);
  valuesAt = keysAt + stages * keyBytes;
  queryFullAt = valuesAt + stages * valueBytes;
  keyRingAt = queryFullAt + 8;
  valueRingAt = keyRingAt + Ring::barrierBytes(stages);
  lastAt = valueRingAt + Ring::barrierBytes(stages);
  sharedBytes = lastAt + 8;
}

bool StatePlan::changesScores() const {
  return s.softcap > 0 || !s.slopes.empty() || s.scale <= 0 ||
         s.has(Optional::queryScale) || s.has(Optional::headScale);
}

std::string whyNotStateAttention(const KernelSpec &spec) {
  const AttentionSpec &s = spec.attention;
  if (s.key.element == Element::i8)
    return "keys and values are in bytes";
  const int64_t columns = std::max(s.headDim, s.valueDim);
  if (columns > 128)
    return "heads have " + std::to_string(columns) +
           " columns but registers hold the sums of 128 twice";
  constexpr std::pair<Optional, const char *> terms[] = {
      {Optional::keyHeadBias, "a term by key and head"},
      {Optional::bias, "a term by distance or pair"},
      {Optional::segments, "segments"},
      {Optional::rotation, "RoPE"}};
  for (auto [operand, words] : terms)
    if (s.has(operand))
      return std::string("keys of a state have no scores with ") + words;
  return "";
}

std::string wordsOfStateAttention(const KernelSpec &spec) {
  const StatePlan plan(spec, true);
  return std::to_string(plan.queries) + " queries of " +
         std::to_string(plan.heads) + " heads by " + std::to_string(stateKeys) +
         " keys of a state, in stretches of " +
         std::to_string(stateKeys * stretchBlocks);
}

//===-- The launch --------------------------------------------------------===//

// A buffer's heads as a tensor [sequence, row, head, column in head]: columns
// past a head read as 0.
static std::vector<Dimension> headsOf(const BufferSpec &buffer, int64_t size,
                                      uint32_t rows, unsigned boxHeads,
                                      unsigned boxRows) {
  const uint32_t row = uint32_t(2 * buffer.rowStride);
  return {{constantAmount(size), {}, lineColumns},
          {constantAmount(buffer.columns / size), constantAmount(2 * size),
           boxHeads},
          {amountOf(rows), constantAmount(row), boxRows},
          {amountOf(MILLE_COUNT_SEQUENCES), amountOf(rows, row), 1}};
}

StateArguments describeStateLaunch(const StatePlan &plan, Launch &launch) {
  const AttentionSpec &s = plan.s;
  StateArguments numbers;
  uint32_t buffer = 3;
  uint32_t buffers[attentionOperands] = {};
  for (int i = 0; i < attentionOperands; ++i)
    if (s.optional[i])
      buffers[i] = buffer++;
  numbers.query =
      launch.addTensor(0, headsOf(s.query, s.headDim, MILLE_COUNT_QUERIES,
                                  plan.heads, plan.boxQueries));
  numbers.key = launch.addTensor(
      1, headsOf(s.key, s.headDim, MILLE_COUNT_KEYS, 1, stateKeys));
  numbers.value = launch.addTensor(
      2, headsOf(s.value, s.valueDim, MILLE_COUNT_KEYS, 1, stateKeys));
  numbers.out = launch.addAddress(buffer);
  numbers.queries = launch.addScalar(0);
  numbers.rows = launch.addScalar(1);
  numbers.past = launch.addPast();
  const mille_amount tiles = amountOf(MILLE_COUNT_QUERIES, 1, plan.queries);
  numbers.queryTiles = launch.addAmount(tiles);
  for (int i = 0; i < attentionOperands; ++i)
    if (s.optional[i])
      numbers.optional[i] = launch.addAddress(buffers[i]);
  const uint32_t headTiles = uint32_t(s.kvHeads * plan.headTiles);
  launch.threads = StatePlan::threads;
  launch.sharedBytes = plan.sharedBytes;
  launch.overlaps = true;
  launch.tiles = {tiles, amountOf(MILLE_COUNT_SEQUENCES, headTiles),
                  constantAmount(1)};
  if (!plan.few)
    return numbers;
  const mille_amount splits =
      amountOf(MILLE_COUNT_KEYS, 1, stateKeys * stretchBlocks);
  launch.tiles[2] = splits;
  numbers.splits = launch.addAmount(splits);
  numbers.parts =
      launch.addScratch({amountOf(MILLE_COUNT_ROWS), constantAmount(s.heads),
                         splits, constantAmount(4 * plan.partFloats())});
  // No more tiles of queries than rows.
  numbers.counters =
      launch.addCounters(constantAmount(4 * splitRows * headTiles));
  return numbers;
}

//===-- Tiles -------------------------------------------------------------===//

StateAttention::StateAttention(mlir::MLIRContext &context,
                               const StatePlan &plan,
                               const StateArguments &numbers,
                               const Launch &launch)
    : b(context, launch), plan(plan), s(plan.s), numbers(numbers),
      shared(b.sharedMemory()), thread(b.threadIndex()),
      queries(b.argument(numbers.queries)), rows(b.argument(numbers.rows)),
      keyRing(b, shared, plan.stages, plan.keyBytes, plan.keysAt,
              plan.keyRingAt, 1),
      valueRing(b, shared, plan.stages, plan.valueBytes, plan.valuesAt,
                plan.valueRingAt, 1) {}

StateTile StateAttention::tile() {
  StateTile tile;
  Reg index = b.blockIndex();
  tile.number = index;
  tile.split = b.constant(0);
  if (plan.few) {
    Reg splits = b.argument(numbers.splits);
    tile.number = index / splits;
    tile.split = index % splits;
  }
  Reg queryTiles = b.argument(numbers.queryTiles);
  Reg rest = tile.number / queryTiles;
  tile.query = tile.number % queryTiles * int(plan.queries);
  tile.sequence = rest / (s.kvHeads * plan.headTiles);
  Reg headTile = rest % (s.kvHeads * plan.headTiles);
  tile.keyHead = headTile / plan.headTiles;
  const int group = int(s.group());
  tile.headEnd = tile.keyHead * group + group;
  tile.head =
      tile.keyHead * group + headTile % plan.headTiles * int(plan.heads);
  Reg held = b.load(b.at(b.argument(numbers.past), b.widen(tile.sequence) * 4),
                    b.i32());
  tile.first = s.causal ? held : b.constant(0);
  tile.keys = b.minSigned(s.causal ? held + queries : held, rows);
  Reg last = b.minSigned(tile.query + plan.queries, queries) - 1;
  Reg end = endSeen(s, tile.first + last, tile.keys, Reg());
  Reg begin = firstSeen(s, tile.first + tile.query);
  end = end ? end : tile.keys;
  tile.lowBlock = begin ? b.maxSigned(begin, 0) / stateKeys : b.constant(0);
  // One block at least, which may show no key.
  tile.highBlock = b.maxSigned(
      (b.maxSigned(end, 0) + (stateKeys - 1)) / stateKeys, tile.lowBlock + 1);
  tile.low = tile.lowBlock / stretchBlocks;
  tile.count =
      (tile.highBlock + (stretchBlocks - 1)) / stretchBlocks - tile.low;
  return tile;
}

Regs StateAttention::eachStretch(
    const StateTile &tile, const Regs &state,
    llvm::function_ref<Regs(Reg, const Regs &)> body) {
  if (plan.few)
    return body(tile.low + tile.split, state);
  Regs all{tile.low};
  all.insert(all.end(), state.begin(), state.end());
  all = b.loop(
      all, [&](const Regs &now) { return lt(now[0], tile.low + tile.count); },
      [&](const Regs &now) {
        Regs next{now[0] + 1};
        Regs rest = body(now[0], Regs(now.begin() + 1, now.end()));
        next.insert(next.end(), rest.begin(), rest.end());
        return next;
      });
  return Regs(all.begin() + 1, all.end());
}

Regs StateAttention::eachBlock(
    const StateTile &tile, Reg stretch, const Regs &state,
    llvm::function_ref<Regs(Reg, const Regs &)> body) {
  Reg from = b.maxSigned(tile.lowBlock, stretch * int(stretchBlocks));
  Reg end =
      b.minSigned(tile.highBlock, stretch * int(stretchBlocks) + stretchBlocks);
  Regs all{end - 1};
  all.insert(all.end(), state.begin(), state.end());
  all = b.loop(
      all, [&](const Regs &now) { return ge(now[0], from); },
      [&](const Regs &now) {
        Regs next{now[0] - 1};
        Regs rest = body(now[0], Regs(now.begin() + 1, now.end()));
        next.insert(next.end(), rest.begin(), rest.end());
        return next;
      });
  return Regs(all.begin() + 1, all.end());
}

//===-- The producer ------------------------------------------------------===//

void StateAttention::produce(const StateTile &tile) {
  b.arriveExpecting(queryFull(), plan.queryBytes);
  for (unsigned c = 0; c < plan.headPanels; ++c)
    b.loadBox(b.at(shared, c * plan.queryPanel), b.argument(numbers.query),
              queryFull(),
              {b.constant(lineColumns * c),
               tile.head + s.queryOffset / s.headDim, tile.query,
               tile.sequence});
  auto load = [&](Ring &ring, unsigned map, unsigned panels, int64_t firstHead,
                  Reg block, RingState at) {
    Reg to = ring.acquire(at, ring.stageBytes());
    for (unsigned c = 0; c < panels; ++c)
      b.loadBox(b.at(to, c * plan.keyPanel), b.argument(map),
                ring.full(at.stage),
                {b.constant(lineColumns * c), tile.keyHead + firstHead,
                 block * int(stateKeys), tile.sequence});
    return ring.next(at);
  };
  Regs state;
  append(state, keyRing.producer());
  append(state, valueRing.producer());
  eachStretch(tile, state, [&](Reg stretch, const Regs &before) {
    return eachBlock(tile, stretch, before, [&](Reg block, const Regs &now) {
      Regs next;
      append(next, load(keyRing, numbers.key, plan.headPanels,
                        s.keyOffset / s.headDim, block, {now[0], now[1]}));
      append(next, load(valueRing, numbers.value, plan.valuePanels,
                        s.valueOffset / s.valueDim, block, {now[2], now[3]}));
      return next;
    });
  });
}

void StateAttention::write() {
  b.ifThen(eq(thread, 0), [&] {
    b.initBarrier(queryFull(), 1);
    keyRing.init();
    valueRing.init();
    b.fenceBarrierInit();
    for (unsigned map : {numbers.query, numbers.key, numbers.value})
      b.prefetchMap(b.argument(map));
  });
  b.syncBlock();
  b.admitNextKernel();
  b.waitForEarlierKernels();
  StateTile own = tile();
  auto work = [&] {
    b.ifElse(
        ge(thread, StatePlan::consumers),
        [&] { b.ifThen(b.elect(), [&] { produce(own); }); },
        [&] { consume(own); });
  };
  if (plan.few) // other blocks have other stretches
    b.ifThen(lt(own.split, own.count), work);
  else
    work();
}

Kernel writeStateAttention(mlir::MLIRContext &context, const KernelSpec &spec,
                           bool few, const std::string &entry) {
  Launch launch;
  launch.entry = entry;
  launch.half = halfOf(spec);
  const StatePlan plan(spec, few);
  const StateArguments numbers = describeStateLaunch(plan, launch);
  StateAttention kernel(context, plan, numbers, launch);
  kernel.write();
  return {kernel.b.finish(), launch};
}

} // namespace mille::nvvm

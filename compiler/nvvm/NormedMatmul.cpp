// A tile's rows lie in the registers of a cluster from the products to the
// outs. K is added in the order of all products. Must not choose tiles.
#include "compiler/nvvm/NormedKernel.h"
#include "compiler/nvvm/Region.h"

namespace mille::nvvm {

NormedLayout::NormedLayout(const KernelSpec &spec, const NormedTile &tile) {
  chunks = tile.columns / chunk;
  allChunks = chunks * tile.cluster;
  rowBytes = tile.rows() * lineBytes;
  stageBytes = rowBytes + tile.columns * lineBytes;
  panelBytes = rowBytes;
  ringExtra = -1;
  const std::vector<BufferSpec> &extras = spec.matmul.extras;
  for (unsigned i = extras.size(); i-- > 0;)
    if (extras[i].reading == Reading::element &&
        extras[i].element == Element::f32 && hasMap(extras[i]))
      ringExtra = i;
  panelsOfStage = stageBytes / panelBytes;
  pieceBytes = chunks * tile.rows() * 8;
  const unsigned rest = pieceBytes * tile.cluster + 256;
  constexpr unsigned mostStages = 8;
  stages = std::min(mostStages, (sharedLimit - rest) / stageBytes);
  slots = stages * stageBytes / slotBytes / tile.groups;
  statistics = stages * stageBytes;
  barriers = statistics + pieceBytes * tile.cluster;
  arrived = barriers + Ring::barrierBytes(stages);
  sharedBytes = arrived + 8;
}

// The op and its joined rows; buffers that joined rows read count as extras.
KernelSpec withAllExtras(const KernelSpec &spec) {
  KernelSpec all = spec;
  for (const JoinedRows &joined : spec.joined)
    for (size_t i = 0; i < joined.sources.size(); ++i)
      if (joined.sources[i] < 0)
        all.matmul.extras.push_back(joined.rows.inputs[i]);
  return all;
}

//===-- The launch --------------------------------------------------------===//

Launch &NormedWriter::describe(const std::string &entry) {
  launch.entry = entry;
  launch.half = halfOf(spec);
  launch.threads = (1 + tile.groups) * groupThreads;
  launch.cluster = tile.cluster;
  launch.sharedBytes = layout.sharedBytes;
  launch.overlaps = true;
  const mille_amount rowTiles = amountOf(MILLE_COUNT_ROWS, 1, tile.rows());
  launch.tiles = {rowTiles, constantAmount(1), constantAmount(1)};
  product =
      addProduct(launch, matmul, rowTiles, stepOfK, tile.rows(), tile.columns);
  auto map = [&](uint32_t buffer, const BufferSpec &its, uint32_t boxRows) {
    const uint32_t across = lineBytes / bytesOf(its.element);
    return launch.addTensor(
        buffer,
        {{constantAmount(its.columns), {}, across},
         {amountOf(MILLE_COUNT_ROWS),
          constantAmount(its.rowStride * bytesOf(its.element)), boxRows}});
  };
  if (layout.ringExtra >= 0)
    extraMap =
        map(2 + layout.ringExtra, matmul.extras[layout.ringExtra], tile.rows());
  uint32_t buffer = 2 + all.matmul.extras.size();
  for (const BufferSpec &out : spec.outs())
    outMaps.push_back(map(buffer++, out, 64));
  return launch;
}

void NormedWriter::initialize() {
  b.admitNextKernel();
  Reg index = b.threadIndex();
  group = b.uniform(index / int(groupThreads));
  thread = index % int(groupThreads);
  rank = tile.cluster > 1 ? b.rankInCluster() : b.constant(0);
  row = b.blockIndex() / int(tile.cluster) * int(tile.rows());
  column = rank * int(tile.columns);
  rows = b.argument(product.rows);
  steps = b.argument(product.steps);
  shared = b.sharedMemory();
  arrived = b.at(shared, int(layout.arrived));
  ring.emplace(b, shared, layout.stages, layout.stageBytes, 0, layout.barriers,
               tile.groups);
  b.ifThen(eq(index, 0), [&] {
    ring->init();
    if (tile.cluster > 1)
      b.initBarrier(arrived, 1);
    b.fenceBarrierInit();
    if (tile.cluster > 1)
      b.arriveExpecting(arrived, (tile.cluster - 1) * layout.pieceBytes);
    for (unsigned map : {product.input, product.weight})
      b.prefetchMap(b.argument(map));
  });
  if (tile.cluster > 1)
    b.syncCluster();
  else
    b.syncBlock();
}

Kernel NormedWriter::write() {
  initialize();
  b.ifElse(eq(group, 0), [&] { produce(); }, [&] { consume(); });
  if (tile.cluster > 1)
    b.syncCluster(); // nobody leaves while others send to it
  return {b.finish(), launch};
}

// The operands, then the panels of the extra, some to a stage.
void NormedWriter::produce() {
  if (tile.groups > 1)
    b.setRegisters(Builder::Registers::decrease, producerRegisters);
  b.ifThen(lt(thread, 32), [&] {
    b.ifThen(b.elect(), [&] {
      RingState state = ring->fill(
          b.constant(0), steps, layout.stageBytes,
          [&](Reg step, Reg stage, RingState at) {
            loadWeight(step, stage, at);
          },
          [&](Reg step, Reg stage, RingState at) {
            loadInput(step, stage, at);
          });
      for (unsigned p = 0; layout.ringExtra >= 0 && p < layout.chunks;
           p += layout.panelsOfStage) {
        const unsigned count =
            std::min(layout.panelsOfStage, layout.chunks - p);
        Reg stage = ring->acquire(state, count * layout.panelBytes);
        for (unsigned i = 0; i < count; ++i)
          b.loadBox(b.at(stage, int(i * layout.panelBytes)),
                    b.argument(extraMap), ring->full(state.stage),
                    {column + int(chunk * (p + i)), row});
        state = ring->next(state);
      }
    });
  });
}

void NormedWriter::loadInput(Reg step, Reg stage, RingState at) {
  b.loadBox(stage, b.argument(product.input), ring->full(at.stage),
            {step * int(stepOfK), row});
}

void NormedWriter::loadWeight(Reg step, Reg stage, RingState at) {
  b.loadBox(b.at(stage, int(layout.rowBytes)), b.argument(product.weight),
            ring->full(at.stage), {step * int(stepOfK), column});
}

//===-- Sums --------------------------------------------------------------===//

Reg NormedWriter::products(const RingState &state, Reg sums, bool first) {
  ring->wait(state);
  Reg base = b.addressOf(shared) + state.stage * int(layout.stageBytes);
  Reg ofRows = descriptor(base + (group - 1) * int(slotBytes)),
      ofWeight = descriptor(base + int(layout.rowBytes));
  b.fenceProducts();
  if (!first)
    b.noteHarmless("the sums stay in flight");
  for (unsigned k = 0; k < stepOfK / productDepth; ++k)
    sums = b.multiply(tile.columns, ofRows + descriptorStep(32 * k),
                      ofWeight + descriptorStep(32 * k), sums, first && !k);
  b.commitProducts();
  return sums;
}

// The first step stands before the loop, because it begins the sums.
Regs NormedWriter::sum(RingState &state) {
  Reg sums =
      products(state, b.undefined(b.accumulatorType(tile.columns)), true);
  RingState second = ring->next(state);
  Regs end = b.loop(
      {b.constant(1), second.stage, second.parity, sums},
      [&](const Regs &v) { return lt(v[0], steps); },
      [&](const Regs &v) -> Regs {
        RingState at{v[1], v[2]};
        Reg more = products(at, v[3], false);
        b.waitProducts(1);
        ring->release(ring->before(at.stage), thread);
        RingState next = ring->next(at);
        return {v[0] + 1, next.stage, next.parity, more};
      });
  b.waitProducts(0);
  state = {end[1], end[2]};
  // The last stage is not needed again: the extra takes fewer than there are.
  return b.afterProducts(b.unpack(end[3]));
}

//===-- The op's region ---------------------------------------------------===//

NormedWriter::Four NormedWriter::fromRing(Reg panel) {
  Four values(4);
  for (unsigned h : {0, 1}) {
    Regs eight = fragments->loadPairs(panel, h);
    for (unsigned i = 0; i < 8; ++i)
      values[i / 2].push_back(eight[i]);
  }
  return values;
}

NormedWriter::Pairs NormedWriter::columnsAt(unsigned panel) {
  Pairs columns(direct.count());
  for (unsigned x = 0; x < direct.count(); ++x)
    if (direct.reading(x) == Reading::column)
      for (unsigned j = 0; j < 4; ++j)
        columns[x].push_back(direct.atColumns(
            x, column + fragments->column + int(chunk * panel + 8 * j)));
  return columns;
}

// An extra at the two columns of eight `j` of a panel, in row half `h`.
Regs NormedWriter::valueOf(unsigned extra, const Pairs &columns, unsigned panel,
                           unsigned j, unsigned h) {
  if (direct.reading(extra) == Reading::column)
    return columns[extra][j];
  Reg own = row + (group - 1) * 64 + fragments->row + int(8 * h);
  return direct.at(extra, own,
                   column + fragments->column + int(chunk * panel + 8 * j));
}

// The op's region in place of its sums, with the statistic of each panel.
void NormedWriter::addUp(Regs &values, RingState state) {
  Region region(b, matmul.epilogue, /*toBf16=*/false);
  Pairs columns = columnsAt(0);
  for (unsigned p = 0; p < layout.chunks; ++p) {
    Pairs next;
    if (p + 1 < layout.chunks)
      next = columnsAt(p + 1);
    const unsigned place = p % layout.panelsOfStage;
    Four fromExtra;
    if (layout.ringExtra >= 0) {
      if (place == 0)
        ring->wait(state);
      fromExtra = fromRing(
          b.at(ring->address(state.stage),
               (group - 1) * int(slotBytes) + int(place * layout.panelBytes)));
    }
    for (unsigned j = 0; j < 4; ++j)
      for (unsigned h : {0, 1}) {
        std::vector<Regs> extras;
        for (unsigned x = 0; x < matmul.extras.size(); ++x)
          extras.push_back(
              int(x) == layout.ringExtra
                  ? Regs{fromExtra[j][2 * h], fromExtra[j][2 * h + 1]}
                  : valueOf(x, columns, p, j, h));
        for (unsigned e : {0, 1}) {
          Reg &value = values[(p * 4 + j) * 4 + 2 * h + e];
          Regs arguments{value};
          for (const Regs &two : extras)
            arguments.push_back(two[e]);
          value = region.apply(arguments);
        }
      }
    takeStatistic(values, p);
    if (layout.ringExtra >= 0 && place + 1 == layout.panelsOfStage)
      state = ring->next(state);
    columns = next;
  }
}

void NormedWriter::consume() {
  if (tile.groups > 1)
    b.setRegisters(Builder::Registers::increase, consumerRegisters);
  b.waitForEarlierKernels();
  fragments.emplace(b, thread);
  direct.begin(b, rows);
  RingState state = ring->consumer();
  Regs values = sum(state);
  addUp(values, state);
  exchange();
  combine();
  finish(values);
}

//===-- Tiles -------------------------------------------------------------===//

std::string wordsOf(const NormedTile &tile) {
  return std::to_string(tile.rows()) + " x " + std::to_string(tile.columns) +
         ", whole rows in clusters of " + std::to_string(tile.cluster);
}

Kernel writeNormedMatmul(mlir::MLIRContext &context, const KernelSpec &spec,
                         const NormedTile &tile, const std::string &entry) {
  return NormedWriter(context, spec, tile, entry).write();
}

} // namespace mille::nvvm

// The producer and the consumers of a matmul's tiles. The order of K is that of
// the operands, whatever the tile.
#include "compiler/nvvm/Matmul.h"

#include "compiler/nvvm/Epilogue.h"
#include "compiler/nvvm/Ring.h"

namespace mille::nvvm {

//===-- Shared memory -----------------------------------------------------===//

unsigned stepOf(const MatmulSpec &matmul) {
  return lineBytes / unsigned(bytesOf(matmul.input.element));
}

Product productOf(const MatmulSpec &matmul) {
  if (matmul.ofBytes())
    return Product::bytes;
  if (matmul.input.element == Element::e4m3)
    return Product::e4m3;
  return matmul.input.element == Element::f16 ? Product::f16 : Product::bf16;
}

bool sumsBySteps(const MatmulSpec &matmul) {
  return productOf(matmul) == Product::e4m3;
}

void addStep(Builder &builder, Regs &values, Reg sums) {
  const Regs step = builder.afterProducts(builder.unpack(sums));
  for (unsigned i = 0; i < values.size(); ++i)
    values[i] = values[i] + step[i];
}

bool hasMap(const BufferSpec &buffer) {
  return buffer.rowStride * bytesOf(buffer.element) % 16 == 0;
}

static int extraOfRing(const KernelSpec &spec) {
  const std::vector<BufferSpec> &extras = spec.matmul.extras;
  for (unsigned i = 0; i < extras.size(); ++i)
    if (extras[i].reading == Reading::element && hasMap(extras[i]) &&
        bytesOf(extras[i].element) == bytesOf(spec.out.element))
      return i;
  return -1;
}

MatmulLayout::MatmulLayout(const KernelSpec &spec, const MatmulTile &tile,
                           Out out) {
  outColumns = tile.columns / spec.matmul.accumulators;
  blocks = tile.blocks;
  staged = out == Out::staged && hasMap(spec.out);
  ringExtra = staged ? extraOfRing(spec) : -1;
  panelColumns = lineBytes / bytesOf(spec.out.element);
  if (out == Out::direct)
    panelColumns = std::min(outColumns, 32u);
  panels = outColumns / panelColumns;
  // An extra comes from afar: more of it is on its way.
  if (staged)
    slots = std::min(groupPanels(), ringExtra < 0 ? 2u : 4u);
}

unsigned MatmulLayout::outBytes(unsigned groups) const {
  return groups * slotsBytes();
}

void MatmulLayout::placeOut(unsigned from, unsigned groups) {
  staging = from;
  barriers = from + outBytes(groups);
}

MatmulLayout::MatmulLayout(const KernelSpec &spec, const MatmulTile &tile)
    // The rows of an expert may end within a tile.
    : MatmulLayout(spec, tile,
                   spec.matmul.experts ? Out::direct : Out::staged) {
  rowBytes = tile.rows() * lineBytes;
  weightBytes = tile.columns * lineBytes;
  stageBytes = rowBytes + weightBytes;
  stages = (sharedLimit - outBytes(2) - 256) / stageBytes;
  // The out's panels get the shared memory that stages leave.
  while (staged && slots < groupPanels() &&
         stages * stageBytes + outBytes(2) + 2 * panelBytes + 256 <=
             sharedLimit)
    ++slots;
  placeOut(stages * stageBytes, 2);
  sharedBytes = barriers + Ring::barrierBytes(stages);
}

//===-- The kernel --------------------------------------------------------===//

namespace {

class MatmulWriter {
public:
  MatmulWriter(mlir::MLIRContext &context, const KernelSpec &spec,
               const MatmulTile &tile, const std::string &entry)
      : matmul(spec.matmul), tile(tile), layout(spec, tile),
        walk(matmul, tile.rows() * tile.cluster, layout.outColumns, tile.group),
        epilogue(spec, tile, layout, describe(spec, entry)),
        b(context, launch) {}

  Kernel write();

private:
  using Origin = TileOrigin;

  // A thread issues few copies, so one brings all of the weight's tile where
  // that lies together and for one block.
  unsigned weightCopies() const {
    return tile.cluster > 1 || matmul.accumulators > 1 ? 2 : 1;
  }
  Launch &describe(const KernelSpec &spec, const std::string &entry);
  void initialize();
  // Every `stride`-th tile of the cluster from `first` on, where this block's
  // part of it begins.
  Regs eachTile(const Regs &state, Reg first, Reg stride, TileWalk::Body body);
  void produce();
  void carry(Reg which);
  RingState produceTile(const Origin &origin, RingState state);
  void consume();
  Regs products(const RingState &state, const Regs &sums, bool first);
  Regs sumTile(RingState &state);
  std::vector<Regs> sumOfSteps(RingState &state);
  RingState consumeTile(const Origin &origin, RingState state,
                        RingState &panels);
  RingState skipTile(const RingState &state);

  const MatmulSpec &matmul;
  const MatmulTile tile;
  const MatmulLayout layout;
  Launch launch;
  ProductArguments product;
  TileWalk walk;
  MatmulEpilogue epilogue;
  Builder b;

  Reg shared, rank, cluster, clusters, steps;
  std::optional<Ring> ring;
  std::optional<Turns> turns;
  std::optional<Fragments> fragments;
  Reg group, thread;
};

} // namespace

ProductArguments addProduct(Launch &launch, const MatmulSpec &matmul,
                            const mille_amount &rowTiles, unsigned step,
                            unsigned inputRows, unsigned weightRows) {
  const mille_amount inner = constantAmount(matmul.inner);
  const uint32_t bytes = bytesOf(matmul.input.element);
  ProductArguments product;
  product.input = launch.addTensor(
      0, {{inner, {}, step},
          {amountOf(MILLE_COUNT_ROWS),
           constantAmount(matmul.input.rowStride * bytes), inputRows}});
  const uint32_t both = matmul.columns * matmul.accumulators;
  std::vector<Dimension> weight = {
      {inner, {}, step},
      {constantAmount(both), constantAmount(matmul.inner * bytes), weightRows}};
  if (matmul.experts)
    weight.push_back({constantAmount(matmul.experts),
                      constantAmount(matmul.inner * bytes * both), 1});
  product.weight = launch.addTensor(1, weight);
  product.rows = launch.addAmount(amountOf(MILLE_COUNT_ROWS));
  // As arguments, not constants: LLVM would unroll the loops.
  product.steps =
      launch.addAmount(amountOf(MILLE_COUNT_ONE, matmul.inner, step));
  product.rowTiles = launch.addAmount(rowTiles);
  return product;
}

// The launch, but for what the epilogue adds.
Launch &MatmulWriter::describe(const KernelSpec &spec,
                               const std::string &entry) {
  const mille_amount rowTiles =
      amountOf(MILLE_COUNT_ROWS, 1, tile.rows() * tile.cluster);
  launch.entry = entry;
  launch.half = halfOf(spec);
  launch.threads = 3 * groupThreads;
  launch.cluster = tile.cluster;
  launch.sharedBytes = layout.sharedBytes;
  launch.blocksPerUnit = 1;
  launch.overlaps = true;
  launch.tiles = {rowTiles,
                  constantAmount(columnTilesOf(matmul, layout.outColumns)),
                  constantAmount(1)};
  product = addProduct(launch, matmul, rowTiles, stepOf(matmul), tile.rows(),
                       tile.columns / weightCopies());
  walk.describe(launch);
  return launch;
}

void MatmulWriter::initialize() {
  b.admitNextKernel();
  Reg index = b.threadIndex();
  group = b.uniform(index / int(groupThreads));
  thread = index % int(groupThreads);
  rank = tile.cluster > 1 ? b.rankInCluster() : b.constant(0);
  cluster = b.blockIndex() / int(tile.cluster);
  clusters = b.blockCount() / int(tile.cluster);
  shared = b.sharedMemory();
  steps = b.argument(product.steps);
  walk.begin(b, b.argument(product.rowTiles));
  ring.emplace(b, shared, layout.stages, layout.stageBytes, 0, layout.barriers,
               tile.pingPong ? 1 : 2, tile.cluster);
  b.ifThen(eq(index, 0), [&] {
    ring->init();
    for (int which = 0; layout.slots && which < 2; ++which)
      epilogue.panelRing(b, shared, b.constant(which)).init();
    b.fenceBarrierInit();
    for (unsigned map : {product.input, product.weight})
      b.prefetchMap(b.argument(map));
    epilogue.prefetchMaps(b);
  });
  if (tile.cluster > 1)
    b.syncCluster(); // the other block's barriers are ready too
  else
    b.syncBlock();
  b.waitForEarlierKernels();
}

Regs MatmulWriter::eachTile(const Regs &state, Reg first, Reg stride,
                            TileWalk::Body body) {
  if (tile.cluster == 1)
    return walk.each(state, first, stride, body);
  return walk.each(state, first, stride,
                   [&](const Origin &of, const Regs &values) {
                     Origin own = of;
                     own.row = own.row + rank * int(tile.rows());
                     return body(own, values);
                   });
}

Kernel MatmulWriter::write() {
  initialize();
  b.ifElse(eq(group, 0), [&] { produce(); }, [&] { consume(); });
  if (tile.cluster > 1)
    b.syncCluster(); // nobody sends to a block that has gone
  return {b.finish(), launch};
}

//===-- The producer ------------------------------------------------------===//

RingState MatmulWriter::produceTile(const Origin &origin, RingState state) {
  Reg weights = b.argument(product.weight);
  // Two accumulators: the second half are rows N + n of the weight.
  const int64_t half =
      matmul.accumulators > 1 ? matmul.columns : tile.columns / 2;
  auto load = [&](Reg stage, const RingState &at, Reg k, Reg which,
                  std::optional<unsigned> blocks) {
    Reg to =
        b.at(stage, which * int(layout.weightBytes / 2) + int(layout.rowBytes));
    Regs from{k, origin.column + which * half};
    if (matmul.experts)
      from.push_back(origin.expert);
    b.loadBox(to, weights, ring->full(at.stage), from, blocks);
  };
  Regs last = b.loop(
      {b.constant(0), state.stage, state.parity},
      [&](const Regs &v) { return lt(v[0], steps); },
      [&](const Regs &v) -> Regs {
        RingState at{v[1], v[2]};
        Reg stage = ring->acquire(at, layout.stageBytes);
        Reg k = v[0] * int(stepOf(matmul));
        b.loadBox(stage, b.argument(product.input), ring->full(at.stage),
                  {k, origin.row});
        if (tile.cluster > 1)
          load(stage, at, k, rank, (1u << tile.cluster) - 1);
        else
          for (unsigned which = 0; which < weightCopies(); ++which)
            load(stage, at, k, b.constant(which), std::nullopt);
        RingState next = ring->next(at);
        return {v[0] + 1, next.stage, next.parity};
      });
  return {last[1], last[2]};
}

// The panels of a group's tiles, by a warp of their own: the extra's come from
// afar, and must not wait for the operands of other tiles.
void MatmulWriter::carry(Reg which) {
  Carrier carrier = epilogue.carrier(b, shared, which);
  Reg first = tile.pingPong ? cluster + which * clusters : cluster;
  Reg stride = tile.pingPong ? clusters * 2 : clusters;
  carrier.end(eachTile(carrier.begin(), first, stride,
                       [&](const Origin &origin, const Regs &state) -> Regs {
                         Reg row =
                             tile.pingPong
                                 ? origin.row
                                 : origin.row + which * int(64 * tile.blocks);
                         return carrier.carry(state, row, origin.column);
                       }));
}

void MatmulWriter::produce() {
  b.setRegisters(Builder::Registers::decrease, producerRegisters);
  b.ifThen(lt(thread, 32), [&] {
    b.ifThen(b.elect(), [&] {
      RingState first = ring->producer();
      eachTile({first.stage, first.parity}, cluster, clusters,
               [&](const Origin &origin, const Regs &v) -> Regs {
                 RingState state = produceTile(origin, {v[0], v[1]});
                 return {state.stage, state.parity};
               });
    });
  });
  if (layout.slots)
    b.ifThen(ge(thread, 32) & lt(thread, 96),
             [&] { b.ifThen(b.elect(), [&] { carry(thread / 32 - 1); }); });
}

//===-- The consumers -----------------------------------------------------===//

// Issues the products of a stage.
Regs MatmulWriter::products(const RingState &state, const Regs &sums,
                            bool first) {
  ring->wait(state);
  Reg base = b.addressOf(shared) + state.stage * int(layout.stageBytes);
  Reg rows = tile.pingPong
                 ? base
                 : base + (group - 1) * int(64 * tile.blocks * lineBytes);
  Reg ofRows = descriptor(rows),
      ofWeight = descriptor(base + int(layout.rowBytes));
  Regs result = sums;
  b.fenceProducts();
  if (!first)
    b.noteHarmless("the sums stay in flight");
  for (unsigned k = 0; k < productsOfStep; ++k)
    for (unsigned i = 0; i < tile.blocks; ++i)
      result[i] = b.multiply(
          tile.columns, ofRows + descriptorStep(32 * k + i * 64 * lineBytes),
          ofWeight + descriptorStep(32 * k), result[i], first && k == 0,
          productOf(matmul));
  b.commitProducts();
  return result;
}

// The first step stands before the loop, because it begins the sums.
Regs MatmulWriter::sumTile(RingState &state) {
  Regs undefined(tile.blocks, b.undefined(b.accumulatorType(
                                  tile.columns, productOf(matmul))));
  Regs initial{b.constant(1)};
  Regs sums = products(state, undefined, true);
  append(initial, ring->next(state));
  initial.insert(initial.end(), sums.begin(), sums.end());
  Regs last = b.loop(
      initial, [&](const Regs &v) { return lt(v[0], steps); },
      [&](const Regs &v) {
        RingState at{v[1], v[2]};
        Regs next{v[0] + 1};
        Regs more = products(at, Regs(v.begin() + 3, v.end()), false);
        // The step before is done: its stage goes back.
        b.waitProducts(1);
        ring->release(ring->before(at.stage), thread);
        append(next, ring->next(at));
        next.insert(next.end(), more.begin(), more.end());
        return next;
      });
  state = {last[1], last[2]};
  return Regs(last.begin() + 3, last.end());
}

// While a group adds a step to its sums the other one's products run.
std::vector<Regs> MatmulWriter::sumOfSteps(RingState &state) {
  const unsigned each = tile.columns / 2;
  Regs none(tile.blocks, b.undefined(b.accumulatorType(tile.columns)));
  Regs initial{b.constant(0)};
  append(initial, state);
  initial.insert(initial.end(), tile.blocks * each, b.real(0));
  Regs last = b.loop(
      initial, [&](const Regs &v) { return lt(v[0], steps); },
      [&](const Regs &v) {
        RingState at{v[1], v[2]};
        Regs sums = products(at, none, true);
        b.waitProducts(0);
        ring->release(at.stage, thread);
        Regs next{v[0] + 1};
        append(next, ring->next(at));
        for (unsigned i = 0; i < tile.blocks; ++i) {
          auto from = v.begin() + 3 + i * each;
          Regs values(from, from + each);
          addStep(b, values, sums[i]);
          next.insert(next.end(), values.begin(), values.end());
        }
        return next;
      },
      /*whole=*/true);
  state = {last[1], last[2]};
  std::vector<Regs> values;
  for (unsigned i = 0; i < tile.blocks; ++i) {
    auto from = last.begin() + 3 + i * each;
    values.emplace_back(from, from + each);
  }
  return values;
}

RingState MatmulWriter::skipTile(const RingState &state) {
  return ring->skip(state, steps);
}

RingState MatmulWriter::consumeTile(const Origin &origin, RingState state,
                                    RingState &panels) {
  const bool bySteps = sumsBySteps(matmul);
  if (tile.pingPong)
    turns->take();
  std::vector<Regs> values;
  Regs sums;
  if (bySteps)
    values = sumOfSteps(state);
  else
    sums = sumTile(state);
  if (tile.pingPong)
    turns->pass();
  Reg row = tile.pingPong ? origin.row
                          : origin.row + (group - 1) * int(64 * tile.blocks);
  if (matmul.experts)
    epilogue.enter(origin.expert, origin.end);
  epilogue.prepare(row, origin.column, tile.blocks);
  if (!bySteps) {
    b.waitProducts(0);
    ring->release(ring->before(state.stage), thread);
  }
  for (Reg sum : sums)
    values.push_back(b.afterProducts(b.unpack(sum)));
  panels = epilogue.write(values, row, origin.column, panels);
  return tile.pingPong ? skipTile(state) : state;
}

void MatmulWriter::consume() {
  b.setRegisters(Builder::Registers::increase, consumerRegisters);
  Reg consumer = group - 1;
  fragments.emplace(b, thread);
  turns.emplace(b, 2, consumer);
  epilogue.begin(b, {shared, group, thread, b.argument(product.rows)},
                 *fragments);
  RingState state = ring->consumer();
  Reg first = cluster, stride = clusters;
  if (tile.pingPong) {
    RingState second = skipTile(state);
    Reg isSecond = eq(consumer, 1);
    state = {b.select(isSecond, second.stage, state.stage),
             b.select(isSecond, second.parity, state.parity)};
    first = cluster + consumer * clusters;
    stride = clusters * 2;
    turns->begin();
  }
  Reg zero = b.constant(0); // where the ring of panels begins
  eachTile({state.stage, state.parity, zero, zero}, first, stride,
           [&](const Origin &origin, const Regs &v) -> Regs {
             RingState panels{v[2], v[3]};
             RingState next = consumeTile(origin, {v[0], v[1]}, panels);
             return {next.stage, next.parity, panels.stage, panels.parity};
           });
  if (tile.pingPong) { // takes the last turn, so that no arrival is left over
    Reg own = b.maxSigned(walk.tiles() - cluster + clusters - 1, 0) / clusters;
    b.ifThen(eq(own & 1, consumer), [&] { turns->take(); });
  }
}

Kernel writeMatmul(mlir::MLIRContext &context, const KernelSpec &spec,
                   const MatmulTile &tile, const std::string &entry) {
  return MatmulWriter(context, spec, tile, entry).write();
}

} // namespace mille::nvvm

// Products of f32 by parts of bf16. A group of threads splits what arrives of
// the weight into parts in shared memory; those that multiply split their rows
// in registers. The order of K is that of the operands, whatever the tile.
#include "compiler/nvvm/PartsMatmul.h"

#include "compiler/nvvm/Epilogue.h"
#include "compiler/nvvm/Parts.h"
#include "compiler/nvvm/Ring.h"

namespace mille::nvvm {

constexpr unsigned productSteps = rawColumns / productDepth; // of a step of K
constexpr unsigned partStages = 4; // of parts, by two in a pair
constexpr unsigned arrivingStages = 4;
constexpr unsigned splitterBarrier = 3; // 1 and 2 are those that multiply
constexpr unsigned splitterRegisters = 88, sumsRegisters = 192;

//===-- Shared memory -----------------------------------------------------===//

namespace {

// A pair holds two steps of the weight's parts: a line of each column with the
// first and the second part of one step, such a line of the other step, and a
// line with the third parts of both.
struct PartsLayout : MatmulLayout {
  PartsLayout(const KernelSpec &spec, const PartsTile &tile)
      : MatmulLayout(spec, tileOf(tile),
                     tile.few() || spec.matmul.experts ? Out::direct
                                                       : Out::staged) {
    rowBytes = tile.rows() * lineBytes;
    weightBytes = tile.columns * lineBytes;
    pairBytes = 3 * weightBytes;
    stageBytes = rowBytes + weightBytes;
    const unsigned fixed =
        partStages / 2 * pairBytes + outBytes(tile.groups) + 256;
    stages = std::min(arrivingStages, (sharedLimit - fixed) / stageBytes);
    weights = stages * rowBytes;
    parts = stages * stageBytes;
    placeOut(parts + partStages / 2 * pairBytes, tile.groups);
    rawBarriers = barriers + Ring::barrierBytes(stages);
    partBarriers = rawBarriers + Ring::barrierBytes(stages);
    sharedBytes = partBarriers + Ring::barrierBytes(partStages);
  }

  static MatmulTile tileOf(const PartsTile &tile) {
    MatmulTile result;
    result.columns = tile.columns;
    return result;
  }

  unsigned pairBytes, weights, parts, rawBarriers, partBarriers;
};

//===-- The kernel --------------------------------------------------------===//

class PartsWriter {
public:
  PartsWriter(mlir::MLIRContext &context, const KernelSpec &spec,
              const PartsTile &tile, const std::string &entry)
      : matmul(spec.matmul), tile(tile), layout(spec, tile),
        walk(matmul, tile.rows(), layout.outColumns, MatmulTile().group),
        epilogue(spec, PartsLayout::tileOf(tile), layout,
                 describe(spec, entry)),
        b(context, launch) {}

  Kernel write();

private:
  Launch &describe(const KernelSpec &spec, const std::string &entry);
  void initialize();
  // For each tile of this block: from a state to the next one.
  Regs eachTile(const Regs &state, TileWalk::Body body) {
    return walk.each(state, block, blocks, body);
  }
  // For each step of K: from a place in a ring to the place after the last.
  Regs eachStep(const Regs &start,
                llvm::function_ref<void(Reg, RingState)> body, Ring &ring);

  void produce();
  void produceRows();
  void produceWeights();
  void carry(Reg which);

  void split();
  void splitStep(const RingState &from, const RingState &to);
  void splitUnit(Reg from, const RingState &to, Reg unit);
  Reg linesOf(Reg stage, bool third);

  void consume();
  Regs rowsAt(const RingState &at);
  std::vector<Regs> operandsOf(const Regs &rows);
  Regs products(const std::vector<Regs> &rows, Reg stage);
  Regs step(const Regs &now);
  Regs sumTile(RingState &rows, RingState &parts);

  const MatmulSpec &matmul;
  const PartsTile tile;
  const PartsLayout layout;
  Launch launch;
  ProductArguments product;
  TileWalk walk;
  MatmulEpilogue epilogue;
  Builder b;

  Reg shared, block, blocks, steps;
  std::optional<Ring> rowRing, rawRing, partRing;
  std::optional<Turns> turns;
  std::optional<Fragments> fragments;
  Reg group, thread, lane;
};

} // namespace

bool fitsParts(const KernelSpec &spec, const PartsTile &tile) {
  const PartsLayout layout(spec, tile);
  return layout.panels > 0 && layout.outColumns % layout.panelColumns == 0 &&
         layout.stages >= 2;
}

// The launch, but for what the epilogue adds.
Launch &PartsWriter::describe(const KernelSpec &spec,
                              const std::string &entry) {
  const mille_amount rowTiles = amountOf(MILLE_COUNT_ROWS, 1, tile.rows());
  launch.entry = entry;
  launch.half = halfOf(spec);
  launch.threads = (2 + tile.groups) * groupThreads;
  launch.sharedBytes = layout.sharedBytes;
  launch.blocksPerUnit = tile.few() && !matmul.experts ? 0 : 1;
  launch.overlaps = true;
  launch.tiles = {rowTiles,
                  constantAmount(columnTilesOf(matmul, layout.outColumns)),
                  constantAmount(1)};
  product = addProduct(launch, matmul, rowTiles, rawColumns, tile.rows(),
                       layout.outColumns);
  walk.describe(launch);
  return launch;
}

void PartsWriter::initialize() {
  b.admitNextKernel();
  Reg index = b.threadIndex();
  group = b.uniform(index / int(groupThreads));
  thread = index % int(groupThreads);
  lane = index % 32;
  block = b.blockIndex();
  blocks = b.blockCount();
  shared = b.sharedMemory();
  steps = b.argument(product.steps);
  walk.begin(b, b.argument(product.rowTiles));
  rowRing.emplace(b, shared, layout.stages, layout.rowBytes, 0, layout.barriers,
                  tile.groups);
  rawRing.emplace(b, shared, layout.stages, layout.weightBytes, layout.weights,
                  layout.rawBarriers, 1);
  partRing.emplace(b, shared, partStages, 0, layout.parts, layout.partBarriers,
                   tile.groups);
  b.ifThen(eq(index, 0), [&] {
    for (Ring *ring : {&*rowRing, &*rawRing, &*partRing})
      ring->init();
    if (layout.slots)
      for (unsigned which = 0; which < tile.groups; ++which)
        epilogue.panelRing(b, shared, b.constant(which)).init();
    b.fenceBarrierInit();
    for (unsigned map : {product.input, product.weight})
      b.prefetchMap(b.argument(map));
    epilogue.prefetchMaps(b);
  });
  b.syncBlock();
}

Regs PartsWriter::eachStep(const Regs &start,
                           llvm::function_ref<void(Reg, RingState)> body,
                           Ring &ring) {
  Regs last = b.loop(
      {b.constant(0), start[0], start[1]},
      [&](const Regs &v) { return lt(v[0], steps); },
      [&](const Regs &v) -> Regs {
        body(v[0] * int(rawColumns), {v[1], v[2]});
        RingState next = ring.next({v[1], v[2]});
        return {v[0] + 1, next.stage, next.parity};
      });
  return {last[1], last[2]};
}

Kernel PartsWriter::write() {
  initialize();
  b.ifElse(
      eq(group, 0), [&] { produce(); },
      [&] { b.ifElse(eq(group, 1), [&] { split(); }, [&] { consume(); }); });
  return {b.finish(), launch};
}

//===-- The producers -----------------------------------------------------===//

void PartsWriter::produceRows() {
  b.waitForEarlierKernels();
  Regs first;
  append(first, rowRing->producer());
  eachTile(first, [&](const TileOrigin &origin, const Regs &start) {
    return eachStep(
        start,
        [&](Reg k, RingState at) {
          Reg stage = rowRing->acquire(at, layout.rowBytes);
          b.loadBox(stage, b.argument(product.input), rowRing->full(at.stage),
                    {k, origin.row});
        },
        *rowRing);
  });
}

// Weights are there before any kernel has run, unlike experts' rows.
void PartsWriter::produceWeights() {
  if (matmul.experts)
    b.waitForEarlierKernels();
  Regs first;
  append(first, rawRing->producer());
  eachTile(first, [&](const TileOrigin &origin, const Regs &start) {
    return eachStep(
        start,
        [&](Reg k, RingState at) {
          Reg stage = rawRing->acquire(at, layout.weightBytes);
          for (int a = 0; a < matmul.accumulators; ++a) {
            Regs from{k, origin.column + a * matmul.columns};
            if (matmul.experts)
              from.push_back(origin.expert);
            b.loadBox(b.at(stage, int(a * layout.outColumns * lineBytes)),
                      b.argument(product.weight), rawRing->full(at.stage),
                      from);
          }
        },
        *rawRing);
  });
}

void PartsWriter::carry(Reg which) {
  b.waitForEarlierKernels();
  Carrier carrier = epilogue.carrier(b, shared, which);
  carrier.end(eachTile(
      carrier.begin(), [&](const TileOrigin &origin, const Regs &state) {
        return carrier.carry(state, origin.row + which * 64, origin.column);
      }));
}

// A warp for each, since what one waits for must not hold up another.
void PartsWriter::produce() {
  if (!tile.few())
    b.setRegisters(Builder::Registers::decrease, producerRegisters);
  Reg warp = thread / 32;
  auto inWarp = [&](unsigned number, llvm::function_ref<void()> body) {
    b.ifThen(eq(warp, number), [&] { b.ifThen(b.elect(), body); });
  };
  inWarp(0, [&] { produceRows(); });
  inWarp(1, [&] { produceWeights(); });
  if (layout.slots)
    b.ifThen(ge(warp, 2),
             [&] { b.ifThen(b.elect(), [&] { carry(warp - 2); }); });
}

//===-- Parts -------------------------------------------------------------===//

// The lines with a stage's first and second parts, or with its third parts.
Reg PartsWriter::linesOf(Reg stage, bool third) {
  Reg pair = (stage >> 1) * int(layout.pairBytes) + int(layout.parts);
  return third ? pair + int(2 * layout.weightBytes)
               : pair + (stage & 1) * int(layout.weightBytes);
}

// A column's 16 values of a product. The tensor core takes values 4 t and
// 4 t + 1 as its 2 t and 2 t + 1, and the two after them as its 2 t + 8 and
// 2 t + 9, so that a thread reads 16 bytes of a row of the other operand.
void PartsWriter::splitUnit(Reg from, const RingState &to, Reg unit) {
  Reg column = unit % int(tile.columns), k = unit / int(tile.columns);
  Reg line = column * int(lineBytes), turn = column & 7;
  Regs first, second;
  for (int t = 0; t < 4; ++t) {
    Reg part = ((k * 4 + t) ^ turn) << 4;
    Regs four =
        b.elements(b.load(b.at(from, line + part), b.vectorOf(4, b.f32()), 16));
    first.insert(first.end(), four.begin(), four.begin() + 2);
    second.insert(second.end(), four.begin() + 2, four.end());
  }
  // Half a line to each part.
  const Reg halves[] = {b.constant(0), b.constant(1), to.stage & 1};
  for (int h : {0, 1}) {
    std::vector<Regs> parts = partsOf(b, h ? second : first);
    for (int p = 0; p < 3; ++p) {
      Reg place = halves[p] * 4 + k * 2 + h;
      b.store(b.vector(parts[p]),
              b.at(shared,
                   linesOf(to.stage, p == 2) + line + ((place ^ turn) << 4)),
              16);
    }
  }
}

void PartsWriter::splitStep(const RingState &from, const RingState &to) {
  rawRing->wait(from);
  b.waitBarrier(partRing->empty(to.stage), to.parity);
  const unsigned units = tile.columns * productSteps;
  Reg base = rawRing->address(from.stage);
  for (unsigned first = 0; first < units; first += groupThreads) {
    Reg unit = thread + first;
    if (first + groupThreads <= units)
      splitUnit(base, to, unit);
    else
      b.ifThen(lt(unit, units), [&] { splitUnit(base, to, unit); });
  }
  b.fenceAsync();
  b.syncNamed(splitterBarrier, groupThreads);
  b.ifThen(eq(thread, 0), [&] {
    b.arrive(partRing->full(to.stage));
    b.arrive(rawRing->empty(from.stage));
  });
}

// Where experts' rows begin only kernels before this one know.
void PartsWriter::split() {
  if (matmul.experts)
    b.waitForEarlierKernels();
  if (!tile.few())
    b.setRegisters(Builder::Registers::decrease, splitterRegisters);
  Regs start;
  append(start, rawRing->consumer());
  append(start, partRing->producer());
  eachTile(start, [&](const TileOrigin &, const Regs &first) {
    Regs all{b.constant(0)};
    all.insert(all.end(), first.begin(), first.end());
    all = b.loop(
        all, [&](const Regs &v) { return lt(v[0], steps); },
        [&](const Regs &v) {
          RingState from{v[1], v[2]}, to{v[3], v[4]};
          splitStep(from, to);
          Regs next{v[0] + 1};
          append(next, rawRing->next(from));
          append(next, partRing->next(to));
          return next;
        });
    return Regs(all.begin() + 1, all.end());
  });
}

//===-- The consumers -----------------------------------------------------===//

// This thread's values of a step: for each product four of its first row, and
// four of the row 8 below. Two neighbouring rows share banks, so one of them
// reads the products in the other order.
Regs PartsWriter::rowsAt(const RingState &at) {
  rowRing->wait(at);
  Reg line = (thread / 32) * 16 + lane / 4, turn = (lane / 4) & 7;
  Reg odd = eq(turn & 1, 1);
  Reg part = ((lane & 3) ^ turn ^ ((turn & 1) << 2)) << 4;
  Reg base = rowRing->address(at.stage);
  Reg first =
      b.at(base, (group - 2) * int(64 * lineBytes) + line * int(lineBytes));
  std::vector<Regs> read;
  for (unsigned s = 0; s < productSteps; ++s)
    for (unsigned h : {0, 1})
      read.push_back(b.elements(
          b.load(b.at(first, (part ^ int(64 * s)) + int(8 * h * lineBytes)),
                 b.vectorOf(4, b.f32()), 16)));
  Regs values;
  for (unsigned i = 0; i < read.size(); ++i)
    for (unsigned e = 0; e < 4; ++e)
      values.push_back(b.select(odd, read[i ^ 2][e], read[i][e]));
  // All of the group have read.
  b.syncNamed(group - 1, groupThreads);
  rowRing->release(at.stage, thread);
  return values;
}

// Operand A of each product, in three parts: [3 * product + part] four words.
std::vector<Regs> PartsWriter::operandsOf(const Regs &rows) {
  std::vector<Regs> operands;
  for (unsigned s = 0; s < productSteps; ++s) {
    auto of = [&](unsigned h) { return rows.begin() + 8 * s + 4 * h; };
    Regs values;
    for (unsigned pair : {0, 2})
      for (unsigned h : {0, 1})
        values.insert(values.end(), of(h) + pair, of(h) + pair + 2);
    for (Regs &part : partsOf(b, values))
      operands.push_back(part);
  }
  return operands;
}

// Issues the products of a step, the small ones first, into new sums.
Regs PartsWriter::products(const std::vector<Regs> &rows, Reg stage) {
  Reg start = b.addressOf(shared);
  Reg main = descriptor(start + linesOf(stage, false));
  Reg third = descriptor(start + linesOf(stage, true) +
                         (stage & 1) * int(lineBytes / 2));
  Regs sums(tile.columns / 2, b.undefined(b.f32()));
  bool zero = true;
  b.fenceProducts();
  for (auto [ofRow, ofWeight] : partProducts)
    for (unsigned s = 0; s < productSteps; ++s) {
      Reg weight =
          ofWeight == 2
              ? third + descriptorStep(32 * s)
              : main + descriptorStep(ofWeight * lineBytes / 2 + 32 * s);
      sums =
          b.multiplyRegisters(tile.columns, rows[3 * s + ofRow], weight, sums,
                              Builder::Order::kMajor, zero, Product::bf16);
      zero = false;
    }
  b.commitProducts();
  return sums;
}

// now: step, the place of the next step's rows, that of this step's parts, this
// step's rows, sums.
Regs PartsWriter::step(const Regs &now) {
  const unsigned first = 5, count = 8 * productSteps;
  RingState rows{now[1], now[2]}, parts{now[3], now[4]};
  Regs values(now.begin() + first, now.begin() + first + count);
  Regs sums(now.begin() + first + count, now.end());
  std::vector<Regs> operands = operandsOf(values);
  Regs words;
  for (const Regs &four : operands)
    words.insert(words.end(), four.begin(), four.end());
  words = b.beforeProducts(words);
  for (unsigned i = 0; i < words.size(); ++i)
    operands[i / 4][i % 4] = words[i];
  partRing->wait(parts);
  if (turns)
    turns->take();
  Regs more = products(operands, parts.stage);
  if (turns)
    turns->pass();
  Reg next = now[0] + 1, goesOn = lt(next, steps);
  // The next step's rows come while the products run.
  values = b.ifValues(goesOn, [&] { return rowsAt(rows); }, values);
  RingState after = rowRing->next(rows);
  b.waitProducts(0);
  more = b.afterProducts(more);
  partRing->release(parts.stage, thread);
  Regs all{next};
  append(all, {b.select(goesOn, after.stage, rows.stage),
               b.select(goesOn, after.parity, rows.parity)});
  append(all, partRing->next(parts));
  all.insert(all.end(), values.begin(), values.end());
  for (unsigned i = 0; i < sums.size(); ++i)
    all.push_back(sums[i] + more[i]);
  return all;
}

Regs PartsWriter::sumTile(RingState &rows, RingState &parts) {
  Regs state{b.constant(0)};
  Regs values = rowsAt(rows);
  append(state, rowRing->next(rows));
  append(state, parts);
  state.insert(state.end(), values.begin(), values.end());
  state.insert(state.end(), tile.columns / 2, b.real(0));
  Regs last = b.loop(
      state, [&](const Regs &v) { return lt(v[0], steps); },
      [&](const Regs &v) { return step(v); });
  rows = {last[1], last[2]};
  parts = {last[3], last[4]};
  return Regs(last.begin() + 5 + values.size(), last.end());
}

void PartsWriter::consume() {
  b.waitForEarlierKernels();
  if (!tile.few())
    b.setRegisters(Builder::Registers::increase, sumsRegisters);
  Reg own = group - 2;
  fragments.emplace(b, thread);
  epilogue.begin(b, {shared, group - 1, thread, b.argument(product.rows)},
                 *fragments);
  if (tile.groups > 1) {
    turns.emplace(b, tile.groups, own);
    turns->begin();
  }
  Regs state;
  append(state, rowRing->consumer());
  append(state, partRing->consumer());
  state.insert(state.end(), 2, b.constant(0)); // where the panels' ring begins
  eachTile(state, [&](const TileOrigin &origin, const Regs &v) {
    RingState rows{v[0], v[1]}, parts{v[2], v[3]}, panels{v[4], v[5]};
    Reg row = origin.row + own * 64;
    Regs sums = sumTile(rows, parts);
    if (matmul.experts)
      epilogue.enter(origin.expert, origin.end);
    epilogue.prepare(row, origin.column, 1);
    panels = epilogue.write({sums}, row, origin.column, panels);
    Regs next;
    append(next, rows);
    append(next, parts);
    append(next, panels);
    return next;
  });
  if (turns) // so that no arrival is left over
    b.ifThen(eq(own, 0), [&] { turns->take(); });
}

Kernel writePartsMatmul(mlir::MLIRContext &context, const KernelSpec &spec,
                        const PartsTile &tile, const std::string &entry) {
  return PartsWriter(context, spec, tile, entry).write();
}

} // namespace mille::nvvm

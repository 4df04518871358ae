// The producer, the products and the epilogue of a tile that one block of
// threads computes alone. The order of K is that of the operands.
#include "compiler/nvvm/FewRows.h"

#include "compiler/nvvm/ByteSums.h"
#include "compiler/nvvm/Extras.h"
#include "compiler/nvvm/Fragments.h"
#include "compiler/nvvm/Matmul.h"
#include "compiler/nvvm/Region.h"
#include "compiler/nvvm/Ring.h"

#include <algorithm>

namespace mille::nvvm {

// Eight rows of a step of K, as products read them.
constexpr unsigned eightRowsBytes = 8 * lineBytes;
// Two blocks share a unit: those of the next kernel ask for their weights
// while this one still runs.
constexpr unsigned sharedRoom = 112 << 10;
// Two blocks of one kernel on a unit share its tensor cores and its reads while
// other units idle: of 128 blocks 35 units of an H200 had two, and those took
// 1.5 times as long. A kernel whose blocks read many weights is `apart`: the
// runtime gives every second such launch more than half of a unit's shared
// memory, and a block of the others must have room beside it.
constexpr unsigned sharedRoomApart = 97 << 10;
constexpr int64_t weightsApart = 48 << 10; // bytes of a block
// How long a block without columns stays: until the next kernel's are placed.
constexpr unsigned placingNanoseconds = 1500;

namespace {

bool isApart(const MatmulSpec &matmul, const FewRowsTile &tile) {
  return tile.columns * matmul.accumulators * matmul.inner *
             bytesOf(matmul.input.element) >=
         weightsApart;
}

// What a run of at most so many rows copies: `eights` times eight rows of the
// input, and weights of `steps` steps of K, in a stage, with one copy of each:
// a thread issues a copy in some 200 cycles, however small (measured). Products
// read 64 rows: those that are not copied are whatever lies behind in the
// stage, and their sums are dropped.
struct FewRowsPath {
  FewRowsPath(const MatmulSpec &matmul, const FewRowsTile &tile,
              unsigned eights)
      : eights(eights), rows(8 * eights),
        weightBytes(tile.columns * matmul.accumulators * lineBytes) {
    const unsigned missing = fewRowsOfTile / 8 - eights;
    const int64_t all = matmul.inner / stepOf(matmul);
    while (isWhole(matmul) && steps < 8 && all % (2 * steps) == 0 &&
           steps * weightBytes < std::max(missing, 4u) * eightRowsBytes)
      steps *= 2;
    exists = steps * weightBytes >= missing * eightRowsBytes;
    rowBytes = eights * eightRowsBytes;
    stageBytes = steps * (rowBytes + weightBytes);
    constexpr unsigned mostStages = 16;
    const unsigned room =
        (isApart(matmul, tile) ? sharedRoomApart : sharedRoom) -
        Ring::barrierBytes(mostStages);
    stages = std::min(mostStages, room / stageBytes);
    barriers = stages * stageBytes;
    sharedBytes = barriers + Ring::barrierBytes(stages);
  }
  // Whether K is a number of steps, which a dimension of the maps counts then.
  static bool isWhole(const MatmulSpec &matmul) {
    return matmul.inner % stepOf(matmul) == 0;
  }
  unsigned eights, rows, weightBytes, steps = 1;
  unsigned rowBytes, stageBytes, stages, barriers, sharedBytes;
  bool exists; // what lies behind the rows of each step is in the stage
  unsigned input = 0, weight = 0, fewerInput = 0; // maps
};

// A tile of more sums (columns) has one path for all numbers of rows, which is
// as fast.
constexpr unsigned mostSums = 64;
// The rows that a run copies where the only path has room for 64, and others
// are zeros.
constexpr unsigned fewerRows = 16;

// From few rows to a tile's.
std::vector<FewRowsPath> pathsOf(const MatmulSpec &matmul,
                                 const FewRowsTile &tile) {
  std::vector<FewRowsPath> paths;
  for (unsigned eights : {1u, 2u, fewRowsOfTile / 8}) {
    FewRowsPath path(matmul, tile, eights);
    if (path.rows == fewRowsOfTile ||
        (path.exists && path.weightBytes <= mostSums * lineBytes))
      paths.push_back(path);
  }
  return paths;
}

class FewRowsWriter {
public:
  FewRowsWriter(mlir::MLIRContext &context, const KernelSpec &spec,
                const FewRowsTile &tile, const std::string &entry)
      : spec(spec), matmul(spec.matmul), tile(tile),
        paths(pathsOf(spec.matmul, tile)), direct(spec, describe(entry)),
        bytes(spec.matmul, launch), b(context, launch) {}
  Kernel write();

private:
  Launch &describe(const std::string &entry);
  unsigned addMap(uint32_t buffer, const FewRowsPath &of, unsigned boxRows);
  void choosePath(unsigned first);
  void run(const FewRowsPath &ofRun);
  void initialize();
  void clearRows();
  void produce();
  void load(unsigned map, Reg turn, Reg first, bool isWeight, Reg to,
            RingState at);
  void loadInput(Reg turn, Reg stage, RingState at);
  void loadWeight(Reg turn, Reg stage, RingState at);
  Regs products(const RingState &at, const Regs &sums);
  Regs sum();
  Regs sumOfSteps();
  std::vector<Regs> readExtras();
  void readCorrections();
  // The numbers that two sums from the i-th on stand for.
  Regs numbersOf(const Regs &sums, unsigned accumulator, unsigned i);
  void store(const Regs &sums, const std::vector<Regs> &read);
  void consume();
  Reg lineAt(unsigned i) { return row + fragments->row + int(8 * (i / 2 % 2)); }
  Reg columnAt(unsigned i) {
    return column + fragments->column + int(8 * (i / 4));
  }
  // Whether a run that takes the path has the row of a thread's sum.
  bool exists(unsigned i) const { return path->eights > 1 || i / 2 % 2 == 0; }

  const KernelSpec &spec;
  const MatmulSpec &matmul;
  const FewRowsTile tile;
  std::vector<FewRowsPath> paths;
  Launch launch;
  unsigned rowCount = 0, allSteps = 0, rowTiles = 0; // arguments
  Extras direct;
  ByteSums bytes;
  Builder b;
  Reg shared, group, thread, row, column, turns, rows, warps;
  Reg isFewer; // whether the rows copied are the fewer of the only path's
  // Of the path that is written.
  const FewRowsPath *path = nullptr;
  std::optional<Ring> ring;
  std::optional<Fragments> fragments;
  std::vector<ByteSums::Row> byteRows; // the two of a thread
  std::vector<std::vector<ByteSums::Correction>> corrections; // [accumulator]
};

} // namespace

static unsigned sharedBytesOf(const std::vector<FewRowsPath> &paths) {
  unsigned bytes = 0;
  for (const FewRowsPath &path : paths)
    bytes = std::max(bytes, path.sharedBytes);
  return bytes;
}

std::string wordsOf(const MatmulSpec &matmul, const FewRowsTile &tile) {
  std::string text = std::to_string(fewRowsOfTile) + " x " +
                     std::to_string(tile.columns) + ", all of K in a block";
  for (const FewRowsPath &path : pathsOf(matmul, tile))
    text += ", " + std::to_string(path.stages) + " stages of " +
            std::to_string(path.steps * stepOf(matmul)) + " of K for " +
            std::to_string(path.rows) + " rows";
  return text;
}

// The steps of K of some rows of the input or of columns of the weight: in
// memory [accumulator, row, step, 64], in a stage [step, accumulator, row, 64].
unsigned FewRowsWriter::addMap(uint32_t buffer, const FewRowsPath &of,
                               unsigned boxRows) {
  const bool isWeight = buffer == 1, whole = FewRowsPath::isWhole(matmul);
  const uint32_t step = stepOf(matmul),
                 rowStride =
                     (isWeight ? matmul.inner : matmul.input.rowStride) *
                     bytesOf(matmul.input.element);
  std::vector<Dimension> dimensions = {
      {constantAmount(whole ? step : matmul.inner), {}, step},
      {isWeight ? constantAmount(matmul.columns) : amountOf(MILLE_COUNT_ROWS),
       constantAmount(rowStride), boxRows}};
  if (isWeight && matmul.accumulators > 1)
    dimensions.push_back({constantAmount(matmul.accumulators),
                          constantAmount(matmul.columns * rowStride),
                          uint32_t(matmul.accumulators)});
  if (whole)
    dimensions.push_back({constantAmount(matmul.inner / step),
                          constantAmount(lineBytes), of.steps});
  return launch.addTensor(buffer, dimensions);
}

Launch &FewRowsWriter::describe(const std::string &entry) {
  const mille_amount tilesOfRows = amountOf(MILLE_COUNT_ROWS, 1, fewRowsOfTile);
  launch.entry = entry;
  launch.half = halfOf(spec);
  launch.threads = 2 * groupThreads;
  launch.sharedBytes = sharedBytesOf(paths);
  launch.overlaps = true;
  launch.apart = isApart(matmul, tile);
  launch.tiles = {
      tilesOfRows,
      constantAmount((matmul.columns + tile.columns - 1) / tile.columns),
      constantAmount(1)};
  for (FewRowsPath &path : paths) {
    path.input = addMap(0, path, path.rows);
    path.weight = addMap(1, path, tile.columns);
    if (paths.size() == 1 && path.steps == 1)
      path.fewerInput = addMap(0, path, fewerRows);
  }
  rowCount = launch.addAmount(amountOf(MILLE_COUNT_ROWS));
  allSteps =
      launch.addAmount(amountOf(MILLE_COUNT_ONE, matmul.inner, stepOf(matmul)));
  rowTiles = launch.addAmount(tilesOfRows);
  return launch;
}

Kernel FewRowsWriter::write() {
  b.admitNextKernel();
  Reg index = b.threadIndex();
  group = b.uniform(index / int(groupThreads));
  thread = index % int(groupThreads);
  Reg tilesOfRows = b.argument(rowTiles);
  row = b.blockIndex() % tilesOfRows * int(fewRowsOfTile);
  column = b.blockIndex() / tilesOfRows * int(tile.columns);
  rows = b.argument(rowCount);
  // Rows 16 * w ... 16 * w + 15 of the tile are those of warp w.
  warps = (b.minSigned(rows - row, int(fewRowsOfTile)) + 15) / 16;
  shared = b.sharedMemory();
  if (launch.apart)
    b.ifElse(
        ge(column, int(matmul.columns)),
        [&] {
          b.waitForEarlierKernels();
          b.sleep(placingNanoseconds);
        },
        [&] { choosePath(0); });
  else
    choosePath(0);
  return {b.finish(), launch};
}

// The first path that has room for the run's rows. All threads take one.
void FewRowsWriter::choosePath(unsigned first) {
  auto runFirst = [&] { run(paths[first]); };
  if (first + 1 == paths.size())
    return runFirst();
  b.ifElse(le(rows, int(paths[first].rows)), runFirst,
           [&] { choosePath(first + 1); });
}

void FewRowsWriter::run(const FewRowsPath &ofRun) {
  path = &ofRun;
  turns = b.argument(allSteps) / int(path->steps);
  isFewer = path->fewerInput ? le(rows, int(fewerRows)) : Reg();
  ring.emplace(b, shared, path->stages, path->stageBytes, 0, path->barriers, 1);
  initialize();
  b.ifElse(eq(group, 0), [&] { produce(); }, [&] { consume(); });
}

void FewRowsWriter::initialize() {
  b.ifThen(eq(group, 0), [&] {
    ring->initForTwo(thread);
    b.fenceBarrierInit();
  });
  b.ifThen(eq(group, 1) & eq(thread, 0), [&] {
    for (unsigned map : {path->input, path->weight})
      b.prefetchMap(b.argument(map));
  });
  if (isFewer)
    b.ifThen(isFewer & eq(group, 1), [&] { clearRows(); });
  b.syncBlock();
}

// Zeros in place of the rows of each stage that no copy brings.
void FewRowsWriter::clearRows() {
  Reg zero = b.constant(0);
  for (unsigned stage = 0; stage < path->stages; ++stage)
    for (unsigned at = fewerRows * lineBytes; at < path->rowBytes;
         at += 16 * groupThreads)
      b.store(b.vector({zero, zero, zero, zero}),
              b.at(shared, thread * 16 + int(stage * path->stageBytes + at)),
              16);
  b.fenceAsync();
}

// A thread of its own for each operand: one issues a copy in some 200 cycles.
// The weights' waits for no kernel before.
void FewRowsWriter::produce() {
  const unsigned ofWeight = path->steps * path->weightBytes;
  Reg ofInput = b.constant(path->stageBytes - ofWeight);
  if (isFewer)
    ofInput = b.select(isFewer, fewerRows * lineBytes, ofInput);
  Reg warp = b.uniform(thread / 32);
  b.ifThen(eq(warp, 0), [&] {
    b.ifThen(b.elect(), [&] {
      ring->fillPart(turns, ofWeight, [&](Reg turn, Reg stage, RingState at) {
        loadWeight(turn, stage, at);
      });
    });
  });
  b.ifThen(eq(warp, 1), [&] {
    b.ifThen(b.elect(), [&] {
      b.waitForEarlierKernels();
      ring->fillPart(turns, ofInput, [&](Reg turn, Reg stage, RingState at) {
        loadInput(turn, stage, at);
      });
    });
  });
}

// A stage has the rows of each of its steps, then the weights of each.
void FewRowsWriter::load(unsigned map, Reg turn, Reg first, bool isWeight,
                         Reg to, RingState at) {
  const bool whole = FewRowsPath::isWhole(matmul);
  Regs place{whole ? b.constant(0) : turn * int(stepOf(matmul)), first};
  if (isWeight && matmul.accumulators > 1)
    place.push_back(b.constant(0));
  if (whole)
    place.push_back(turn * int(path->steps));
  b.loadBox(to, b.argument(map), ring->full(at.stage), place, std::nullopt,
            isWeight ? Builder::Reads::once : Builder::Reads::often);
}

void FewRowsWriter::loadInput(Reg turn, Reg stage, RingState at) {
  auto all = [&] { load(path->input, turn, row, false, stage, at); };
  if (!isFewer)
    return all();
  b.ifElse(
      isFewer, [&] { load(path->fewerInput, turn, row, false, stage, at); },
      all);
}

void FewRowsWriter::loadWeight(Reg turn, Reg stage, RingState at) {
  load(path->weight, turn, column, true,
       b.at(stage, int(path->steps * path->rowBytes)), at);
}

// Issues the products of a stage, which add to the sums of each step or of all.
Regs FewRowsWriter::products(const RingState &at, const Regs &sums) {
  ring->wait(at);
  Reg base = b.addressOf(shared) + at.stage * int(path->stageBytes);
  Reg ofRows = descriptor(base),
      ofWeight = descriptor(base + int(path->steps * path->rowBytes));
  // Unrolled: of a loop over steps ptxas makes groups of their own, for all of
  // which it waits before the next stage, or takes one product after the other
  // (C7511).
  const bool bySteps = sumsBySteps(matmul);
  Regs result = sums;
  b.fenceProducts();
  for (unsigned step = 0; step < path->steps; ++step)
    for (unsigned k = 0; k < productsOfStep; ++k) {
      Reg &sum = result[bySteps ? step : 0];
      sum = b.multiply(path->weightBytes / lineBytes,
                       ofRows + descriptorStep(step * path->rowBytes + 32 * k),
                       ofWeight +
                           descriptorStep(step * path->weightBytes + 32 * k),
                       sum, bySteps && k == 0, productOf(matmul));
    }
  b.commitProducts();
  return result;
}

Regs FewRowsWriter::sumOfSteps() {
  const unsigned columns = path->weightBytes / lineBytes;
  Regs none(path->steps, b.undefined(b.accumulatorType(columns))), initial;
  initial.push_back(b.constant(0));
  append(initial, ring->consumer());
  initial.insert(initial.end(), columns / 2, b.real(0));
  Regs last = b.loop(
      initial, [&](const Regs &v) { return lt(v[0], turns); },
      [&](const Regs &v) {
        RingState at{v[1], v[2]};
        Regs sums = products(at, none), values(v.begin() + 3, v.end());
        b.waitProducts(0);
        ring->release(at.stage, thread);
        for (Reg step : sums)
          addStep(b, values, step);
        Regs next{v[0] + 1};
        append(next, ring->next(at));
        next.insert(next.end(), values.begin(), values.end());
        return next;
      },
      /*whole=*/true);
  return Regs(last.begin() + 3, last.end());
}

// The products of a stage run while the next are issued.
Regs FewRowsWriter::sum() {
  if (sumsBySteps(matmul))
    return sumOfSteps();
  RingState start = ring->consumer();
  const unsigned columns = path->weightBytes / lineBytes;
  Regs end = b.loop(
      {b.constant(0), start.stage, start.parity,
       b.pack(Regs(columns / 2, matmul.ofBytes() ? b.constant(0) : b.real(0)))},
      [&](const Regs &v) { return lt(v[0], turns); },
      [&](const Regs &v) -> Regs {
        RingState at{v[1], v[2]};
        Reg more = products(at, {v[3]})[0];
        b.waitProducts(1);
        b.ifThen(gt(v[0], 0),
                 [&] { ring->release(ring->before(at.stage), thread); });
        RingState next = ring->next(at);
        return {v[0] + 1, next.stage, next.parity, more};
      },
      /*whole=*/true);
  b.waitProducts(0);
  return b.afterProducts(b.unpack(end[3]));
}

// Of each extra the values at a thread's sums, two columns after two: they
// arrive while products run.
std::vector<Regs> FewRowsWriter::readExtras() {
  std::vector<Regs> read(direct.count());
  for (unsigned x = 0; x < direct.count(); ++x)
    for (unsigned i = 0; i < tile.columns / 2; i += 2)
      for (Reg value : exists(i) ? direct.at(x, lineAt(i), columnAt(i))
                                 : Regs(2, b.real(0)))
        read[x].push_back(value);
  return read;
}

// Those of a thread's sums, likewise.
void FewRowsWriter::readCorrections() {
  if (!bytes.isOfBytes())
    return;
  byteRows = {bytes.row(lineAt(0)), bytes.row(lineAt(2))};
  corrections.assign(matmul.accumulators, {});
  const ByteSums::Columns columns =
      bytes.columns(column, tile.columns, fragments->column);
  for (int a = 0; a < matmul.accumulators; ++a)
    for (unsigned i = 0; i < tile.columns / 2; i += 2)
      for (const ByteSums::Correction &one :
           exists(i)
               ? bytes.corrections(byteRows[i / 2 % 2], a, columns, 8 * (i / 4))
               : std::vector<ByteSums::Correction>(2))
        corrections[a].push_back(one);
}

Regs FewRowsWriter::numbersOf(const Regs &sums, unsigned accumulator,
                              unsigned i) {
  Regs two;
  for (unsigned e : {0, 1}) {
    Reg sum = sums[accumulator * tile.columns / 2 + i + e];
    two.push_back(bytes.isOfBytes()
                      ? bytes.number(sum, byteRows[i / 2 % 2],
                                     corrections[accumulator][i + e])
                      : sum);
  }
  return two;
}

// Four sums of two rows for each 8 columns.
void FewRowsWriter::store(const Regs &sums, const std::vector<Regs> &read) {
  Region region(b, matmul.epilogue, isBf16(spec.out.element));
  for (unsigned i = 0; i < tile.columns / 2; i += 2) {
    if (!exists(i))
      continue;
    Regs pair;
    std::vector<Regs> numbers;
    for (int a = 0; a < matmul.accumulators; ++a)
      numbers.push_back(numbersOf(sums, a, i));
    for (unsigned e : {0, 1}) {
      Regs arguments;
      for (const Regs &two : numbers)
        arguments.push_back(two[e]);
      for (const Regs &values : read)
        arguments.push_back(values[i + e]);
      pair.push_back(region.apply(arguments));
    }
    direct.store(pair, lineAt(i), columnAt(i));
  }
}

void FewRowsWriter::consume() {
  b.waitForEarlierKernels();
  fragments.emplace(b, thread);
  direct.begin(b, rows);
  bytes.begin(b, rows);
  std::vector<Regs> read = readExtras();
  readCorrections();
  Regs sums = sum();
  b.ifThen(lt(thread / 32, warps), [&] { store(sums, read); });
}

Kernel writeFewRows(mlir::MLIRContext &context, const KernelSpec &spec,
                    const FewRowsTile &tile, const std::string &entry) {
  return FewRowsWriter(context, spec, tile, entry).write();
}

} // namespace mille::nvvm

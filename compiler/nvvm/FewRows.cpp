// The producer, the products and the epilogue of a tile that one block of
// threads computes alone. The order of K is that of the operands.
#include "compiler/nvvm/FewRows.h"

#include "compiler/nvvm/Extras.h"
#include "compiler/nvvm/Fragments.h"
#include "compiler/nvvm/Matmul.h"
#include "compiler/nvvm/Region.h"
#include "compiler/nvvm/Ring.h"

#include <algorithm>

namespace mille::nvvm {

constexpr unsigned stepOfK = 64;
constexpr unsigned groupThreads = 128;
constexpr unsigned mostStages = 16;
// Eight rows of a step of K, as products read them.
constexpr unsigned eightRowsBytes = 8 * lineBytes;
// Two blocks share a unit: those of the next kernel ask for their weights
// while this one still runs.
constexpr unsigned sharedRoom = 112 << 10;

namespace {

// What a run of at most so many rows copies: `eights` times eight rows of the
// input, and weights of `steps` steps of K, in a stage. Products read 64 rows:
// those that are not copied are whatever lies behind in the stage, and their
// sums are dropped.
struct FewRowsPath {
  FewRowsPath(const MatmulSpec &matmul, const FewRowsTile &tile,
              unsigned eights)
      : eights(eights), rows(8 * eights),
        weightBytes(tile.columns * matmul.accumulators * lineBytes) {
    const unsigned missing = fewRowsOfTile / 8 - eights;
    const int64_t all = (matmul.inner + stepOfK - 1) / stepOfK;
    while (steps < 8 && all % (2 * steps) == 0 &&
           steps * weightBytes < missing * eightRowsBytes)
      steps *= 2;
    exists = steps * weightBytes >= missing * eightRowsBytes;
    rowBytes = eights * eightRowsBytes;
    stageBytes = steps * (rowBytes + weightBytes);
    const unsigned room = sharedRoom - Ring::barrierBytes(mostStages);
    stages = std::min(mostStages, room / stageBytes);
    barriers = stages * stageBytes;
    sharedBytes = barriers + Ring::barrierBytes(stages);
  }
  unsigned eights, rows, weightBytes, steps = 1;
  unsigned rowBytes, stageBytes, stages, barriers, sharedBytes;
  bool exists; // what lies behind the rows of each step is in the stage
};

// From few rows to a tile's. Beside many weights the input hardly counts; and
// of two paths with as many sums ptxas says that registers do not suffice, and
// takes one product after the other (C7511).
std::vector<FewRowsPath> pathsOf(const MatmulSpec &matmul,
                                 const FewRowsTile &tile) {
  constexpr unsigned mostSums = 64; // columns
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
        b(context, launch) {}
  Kernel write();

private:
  Launch &describe(const std::string &entry);
  void choosePath(unsigned first);
  void run(const FewRowsPath &ofRun, unsigned input);
  void initialize();
  void produce();
  void loadInput(Reg step, Reg stage, RingState at);
  void loadWeight(Reg step, Reg stage, RingState at);
  Reg products(const RingState &at, Reg sums, bool first);
  Regs sum();
  std::vector<Regs> readExtras();
  void store(const Regs &sums, const std::vector<Regs> &read);
  void consume();
  Reg lineAt(unsigned i) { return row + fragments->row + int(8 * (i / 2 % 2)); }
  Reg columnAt(unsigned i) {
    return column + fragments->column + int(8 * (i / 4));
  }

  const KernelSpec &spec;
  const MatmulSpec &matmul;
  const FewRowsTile tile;
  const std::vector<FewRowsPath> paths;
  Launch launch;
  ProductArguments product;
  std::vector<unsigned> inputs; // maps, of each path
  Extras direct;
  Builder b;
  Reg shared, group, thread, row, column, turns, rows, warps;
  // Of the path that is written.
  const FewRowsPath *path = nullptr;
  unsigned input = 0;
  std::optional<Ring> ring;
  std::optional<Fragments> fragments;
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
            std::to_string(path.steps * stepOfK) + " of K for " +
            std::to_string(path.rows) + " rows";
  return text;
}

Launch &FewRowsWriter::describe(const std::string &entry) {
  const mille_amount rowTiles = amountOf(MILLE_COUNT_ROWS, 1, fewRowsOfTile);
  launch.entry = entry;
  launch.threads = 2 * groupThreads;
  launch.sharedBytes = sharedBytesOf(paths);
  launch.overlaps = true;
  launch.tiles = {
      rowTiles,
      constantAmount((matmul.columns + tile.columns - 1) / tile.columns),
      constantAmount(1)};
  product = addProduct(launch, matmul, rowTiles, stepOfK, fewRowsOfTile,
                       tile.columns);
  for (const FewRowsPath &path : paths)
    inputs.push_back(
        path.rows == fewRowsOfTile
            ? product.input
            : launch.addTensor(0, {{constantAmount(matmul.inner), {}, stepOfK},
                                   {amountOf(MILLE_COUNT_ROWS),
                                    constantAmount(matmul.input.rowStride * 2),
                                    path.rows}}));
  return launch;
}

Kernel FewRowsWriter::write() {
  b.admitNextKernel();
  Reg index = b.threadIndex();
  group = b.uniform(index / int(groupThreads));
  thread = index % int(groupThreads);
  Reg rowTiles = b.argument(product.rowTiles);
  row = b.blockIndex() % rowTiles * int(fewRowsOfTile);
  column = b.blockIndex() / rowTiles * int(tile.columns);
  rows = b.argument(product.rows);
  // Rows 16 * w ... 16 * w + 15 of the tile are those of warp w.
  warps = (b.minSigned(rows - row, int(fewRowsOfTile)) + 15) / 16;
  shared = b.sharedMemory();
  choosePath(0);
  return {b.finish(), launch};
}

// The first path that has room for the run's rows. All threads take one.
void FewRowsWriter::choosePath(unsigned first) {
  auto runFirst = [&] { run(paths[first], inputs[first]); };
  if (first + 1 == paths.size())
    return runFirst();
  b.ifElse(le(rows, int(paths[first].rows)), runFirst,
           [&] { choosePath(first + 1); });
}

void FewRowsWriter::run(const FewRowsPath &ofRun, unsigned inputMap) {
  path = &ofRun;
  input = inputMap;
  turns = b.argument(product.steps) / int(path->steps);
  ring.emplace(b, shared, path->stages, path->stageBytes, 0, path->barriers, 1);
  initialize();
  b.ifElse(eq(group, 0), [&] { produce(); }, [&] { consume(); });
}

void FewRowsWriter::initialize() {
  b.ifThen(eq(group, 0) & eq(thread, 0), [&] {
    ring->init();
    b.fenceBarrierInit();
    for (unsigned map : {input, product.weight})
      b.prefetchMap(b.argument(map));
  });
  b.syncBlock();
}

void FewRowsWriter::produce() {
  b.ifThen(lt(thread, 32), [&] {
    b.ifThen(b.elect(), [&] {
      ring->fill(
          b.constant(0), turns,
          [&](Reg turn, Reg stage, RingState at) {
            loadWeight(turn, stage, at);
          },
          [&](Reg turn, Reg stage, RingState at) {
            loadInput(turn, stage, at);
          });
    });
  });
}

// A stage has the rows of each of its steps, then the weights of each.
void FewRowsWriter::loadInput(Reg turn, Reg stage, RingState at) {
  for (unsigned s = 0; s < path->steps; ++s)
    b.loadBox(b.at(stage, int(s * path->rowBytes)), b.argument(input),
              ring->full(at.stage),
              {turn * int(path->steps * stepOfK) + int(s * stepOfK), row});
}

void FewRowsWriter::loadWeight(Reg turn, Reg stage, RingState at) {
  unsigned to = path->steps * path->rowBytes;
  for (unsigned s = 0; s < path->steps; ++s)
    for (int a = 0; a < matmul.accumulators; ++a) {
      b.loadBox(b.at(stage, int(to)), b.argument(product.weight),
                ring->full(at.stage),
                {turn * int(path->steps * stepOfK) + int(s * stepOfK),
                 column + int64_t(a) * matmul.columns});
      to += tile.columns * lineBytes;
    }
}

// Issues the products of a stage.
Reg FewRowsWriter::products(const RingState &at, Reg sums, bool first) {
  ring->wait(at);
  Reg base = b.addressOf(shared) + at.stage * int(path->stageBytes);
  Reg ofRows = descriptor(base),
      ofWeight = descriptor(base + int(path->steps * path->rowBytes));
  b.fenceProducts();
  if (!first)
    b.noteHarmless("the sums stay in flight");
  for (unsigned s = 0; s < path->steps; ++s)
    for (unsigned k = 0; k < stepOfK / 16; ++k)
      sums =
          b.multiply(path->weightBytes / lineBytes,
                     ofRows + descriptorStep(s * path->rowBytes + 32 * k),
                     ofWeight + descriptorStep(s * path->weightBytes + 32 * k),
                     sums, first && !s && !k);
  b.commitProducts();
  return sums;
}

// The products of a stage run while the next are issued; the first stage stands
// before the loop, because it begins the sums.
Regs FewRowsWriter::sum() {
  RingState state = ring->consumer();
  Reg sums = products(
      state, b.undefined(b.accumulatorType(path->weightBytes / lineBytes)),
      true);
  RingState second = ring->next(state);
  Regs end = b.loop(
      {b.constant(1), second.stage, second.parity, sums},
      [&](const Regs &v) { return lt(v[0], turns); },
      [&](const Regs &v) -> Regs {
        RingState at{v[1], v[2]};
        Reg more = products(at, v[3], false);
        b.waitProducts(1);
        ring->release(ring->before(at.stage), thread);
        RingState next = ring->next(at);
        return {v[0] + 1, next.stage, next.parity, more};
      });
  b.waitProducts(0);
  return b.afterProducts(b.unpack(end[3]));
}

// Of each extra the values at a thread's sums, two columns after two: they
// arrive while products run.
std::vector<Regs> FewRowsWriter::readExtras() {
  std::vector<Regs> read(direct.count());
  for (unsigned x = 0; x < direct.count(); ++x)
    for (unsigned i = 0; i < tile.columns / 2; i += 2)
      for (Reg value : direct.at(x, lineAt(i), columnAt(i)))
        read[x].push_back(value);
  return read;
}

// Four sums of two rows for each 8 columns.
void FewRowsWriter::store(const Regs &sums, const std::vector<Regs> &read) {
  Region region(b, matmul.epilogue, isBf16(spec.out.element));
  for (unsigned i = 0; i < tile.columns / 2; i += 2) {
    Regs pair;
    for (unsigned e : {0, 1}) {
      Regs arguments;
      for (int a = 0; a < matmul.accumulators; ++a)
        arguments.push_back(sums[a * tile.columns / 2 + i + e]);
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
  std::vector<Regs> read = readExtras();
  Regs sums = sum();
  b.ifThen(lt(thread / 32, warps), [&] { store(sums, read); });
}

Kernel writeFewRows(mlir::MLIRContext &context, const KernelSpec &spec,
                    const FewRowsTile &tile, const std::string &entry) {
  return FewRowsWriter(context, spec, tile, entry).write();
}

} // namespace mille::nvvm

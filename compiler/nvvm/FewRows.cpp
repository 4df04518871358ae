// The producer, the products, and the sum over the blocks of a cluster.
// The order of K is that of the operands within a block, then that of ranks.
#include "compiler/nvvm/FewRows.h"

#include "compiler/nvvm/Extras.h"
#include "compiler/nvvm/Fragments.h"
#include "compiler/nvvm/Matmul.h"
#include "compiler/nvvm/Region.h"
#include "compiler/nvvm/Ring.h"

namespace mille::nvvm {

constexpr unsigned stepOfK = 64;
constexpr unsigned rowBytes = fewRowsOfTile * lineBytes;
constexpr unsigned groupThreads = 128;

namespace {

// Each block of the cluster owns outColumns / cluster columns: `own` sums of
// each accumulator in a thread. It gets a chunk of them from each other block:
// for each warp its sums, four by four, a lane's 16 bytes beside its
// neighbour's.
struct FewRowsLayout {
  FewRowsLayout(const MatmulSpec &matmul, const FewRowsTile &tile) {
    columns = tile.columns * matmul.accumulators;
    own = tile.columns / 2 / tile.cluster;
    sums = own * matmul.accumulators;
    stageBytes = rowBytes + columns * lineBytes;
    warpBytes = 32 * 4 * sums;
    chunkBytes = 4 * warpBytes;
    received = tile.stages * stageBytes;
    // What is sent lies where the ring was.
    barriers = received + (tile.cluster - 1) * chunkBytes;
    arrived = barriers + Ring::barrierBytes(tile.stages);
    sharedBytes = arrived + 8;
  }
  unsigned columns, own, sums, stageBytes, warpBytes, chunkBytes;
  unsigned received, barriers, arrived, sharedBytes;
};

class FewRowsWriter {
public:
  FewRowsWriter(mlir::MLIRContext &context, const KernelSpec &spec,
                const FewRowsTile &tile, const std::string &entry)
      : spec(spec), matmul(spec.matmul), tile(tile), layout(spec.matmul, tile),
        direct(spec, describe(entry)), b(context, launch) {}
  Kernel write();

private:
  Launch &describe(const std::string &entry);
  void initialize();
  void produce();
  void loadInput(Reg step, Reg stage, RingState at);
  void loadWeight(Reg step, Reg stage, RingState at);
  Reg products(const RingState &at, Reg sums, bool first);
  Regs sumAlone();
  Regs sum();
  void sendAll(const Regs &sums);
  Reg sendBytes() { return warps * int(layout.warpBytes); } // of a chunk
  Regs total(const Regs &sums);
  void store(const Regs &sums);
  void consume();
  Regs ownedBy(const Regs &sums, unsigned rank);
  Reg placeIn(Reg chunk, unsigned four);

  const KernelSpec &spec;
  const MatmulSpec &matmul;
  const FewRowsTile tile;
  const FewRowsLayout layout;
  Launch launch;
  ProductArguments product;
  Extras direct;
  Builder b;
  Reg shared, group, thread, rank, row, column, first, last, rows, warps,
      arrived;
  std::optional<Ring> ring;
  std::optional<Fragments> fragments;
};

} // namespace

unsigned fewRowsSharedBytes(const MatmulSpec &matmul, const FewRowsTile &tile) {
  return FewRowsLayout(matmul, tile).sharedBytes;
}

Launch &FewRowsWriter::describe(const std::string &entry) {
  const mille_amount rowTiles = amountOf(MILLE_COUNT_ROWS, 1, fewRowsOfTile);
  launch.entry = entry;
  launch.threads = 2 * groupThreads;
  launch.cluster = tile.cluster;
  launch.sharedBytes = layout.sharedBytes;
  launch.overlaps = true;
  launch.tiles = {
      rowTiles,
      constantAmount((matmul.columns + tile.columns - 1) / tile.columns),
      constantAmount(1)};
  product = addProduct(launch, matmul, rowTiles, stepOfK, fewRowsOfTile,
                       tile.columns);
  return launch;
}

void FewRowsWriter::initialize() {
  b.admitNextKernel();
  Reg index = b.threadIndex();
  group = b.uniform(index / int(groupThreads));
  thread = index % int(groupThreads);
  rank = tile.cluster > 1 ? b.rankInCluster() : b.constant(0);
  Reg number = b.blockIndex() / int(tile.cluster);
  Reg rowTiles = b.argument(product.rowTiles);
  row = (number % rowTiles) * int(fewRowsOfTile);
  column = (number / rowTiles) * int(tile.columns);
  rows = b.argument(product.rows);
  // Rows 16 * w ... 16 * w + 15 of the tile are those of warp w.
  warps = (b.minSigned(rows - row, int(fewRowsOfTile)) + 15) / 16;
  shared = b.sharedMemory();
  arrived = b.at(shared, int(layout.arrived));
  ring.emplace(b, shared, tile.stages, layout.stageBytes, 0, layout.barriers,
               1);
  b.ifThen(eq(index, 0), [&] {
    ring->init();
    if (tile.cluster > 1)
      b.initBarrier(arrived, 1);
    b.fenceBarrierInit();
    if (tile.cluster > 1)
      b.arriveExpecting(arrived, sendBytes() * int(tile.cluster - 1));
    for (unsigned map : {product.input, product.weight})
      b.prefetchMap(b.argument(map));
  });
  if (tile.cluster > 1)
    b.syncCluster();
  else
    b.syncBlock();
  Reg steps = b.argument(product.steps);
  first = rank * steps / int(tile.cluster);
  last = (rank + 1) * steps / int(tile.cluster);
}

Kernel FewRowsWriter::write() {
  initialize();
  b.ifElse(eq(group, 0), [&] { produce(); }, [&] { consume(); });
  if (tile.cluster > 1)
    b.syncCluster(); // nobody leaves while others send to it
  return {b.finish(), launch};
}

void FewRowsWriter::produce() {
  b.ifThen(lt(thread, 32), [&] {
    b.ifThen(b.elect(), [&] {
      ring->fill(
          first, last,
          [&](Reg step, Reg stage, RingState at) {
            loadWeight(step, stage, at);
          },
          [&](Reg step, Reg stage, RingState at) {
            loadInput(step, stage, at);
          });
    });
  });
}

void FewRowsWriter::loadInput(Reg step, Reg stage, RingState at) {
  b.loadBox(stage, b.argument(product.input), ring->full(at.stage),
            {step * int(stepOfK), row});
}

void FewRowsWriter::loadWeight(Reg step, Reg stage, RingState at) {
  for (int a = 0; a < matmul.accumulators; ++a)
    b.loadBox(b.at(stage, rowBytes + a * tile.columns * lineBytes),
              b.argument(product.weight), ring->full(at.stage),
              {step * int(stepOfK), column + int64_t(a) * matmul.columns});
}

// Issues the products of a stage.
Reg FewRowsWriter::products(const RingState &at, Reg sums, bool first) {
  ring->wait(at);
  Reg base = b.addressOf(shared) + at.stage * int(layout.stageBytes);
  Reg ofRows = descriptor(base), ofWeight = descriptor(base + int(rowBytes));
  b.fenceProducts();
  if (!first && tile.cluster == 1)
    b.noteHarmless("the sums stay in flight");
  for (unsigned k = 0; k < stepOfK / 16; ++k)
    sums = b.multiply(layout.columns, ofRows + descriptorStep(32 * k),
                      ofWeight + descriptorStep(32 * k), sums, first && !k);
  b.commitProducts();
  return sums;
}

// All of K. The products of a step run while the next are issued; the first
// step stands before the loop, because it begins the sums.
Regs FewRowsWriter::sumAlone() {
  RingState state = ring->consumer();
  Reg sums =
      products(state, b.undefined(b.accumulatorType(layout.columns)), true);
  RingState second = ring->next(state);
  Regs end = b.loop(
      {b.constant(1), second.stage, second.parity, sums},
      [&](const Regs &v) { return lt(v[0], last); },
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

// This block's part of K. Every turn of the loop waits for its own products,
// because a first turn unlike the others makes LLVM copy it.
Regs FewRowsWriter::sum() {
  Regs zeros(layout.columns / 2, b.real(0));
  Reg start = b.pack(b.beforeProducts(zeros));
  RingState state = ring->consumer();
  Regs end = b.loop(
      {first, state.stage, state.parity, start},
      [&](const Regs &v) { return lt(v[0], last); },
      [&](const Regs &v) -> Regs {
        RingState at{v[1], v[2]};
        Reg sums = products(at, v[3], false);
        b.waitProducts(0);
        ring->release(at.stage, thread);
        RingState next = ring->next(at);
        return {v[0] + 1, next.stage, next.parity, sums};
      });
  return b.afterProducts(b.unpack(end[3]));
}

// The sums of the columns that a rank owns, of each accumulator.
Regs FewRowsWriter::ownedBy(const Regs &sums, unsigned owner) {
  Regs owned;
  for (int a = 0; a < matmul.accumulators; ++a) {
    auto begin = sums.begin() + a * tile.columns / 2 + owner * layout.own;
    owned.insert(owned.end(), begin, begin + layout.own);
  }
  return owned;
}

// This thread's 16 bytes of a chunk.
Reg FewRowsWriter::placeIn(Reg chunk, unsigned four) {
  return b.at(chunk, (thread / 32) * int(layout.warpBytes) +
                         (thread % 32) * 16 + int(512 * four));
}

// A chunk to each other block, of the warps that have rows.
void FewRowsWriter::sendAll(const Regs &sums) {
  b.syncNamed(1, groupThreads); // the products of all warps have read the ring
  b.noteHarmless("the emulator multiplies for all warps at once");
  for (unsigned owner = 0; owner < tile.cluster; ++owner)
    b.ifThen(ne(rank, int(owner)), [&] {
      Regs owned = ownedBy(sums, owner);
      Reg chunk = b.at(shared, int(owner * layout.chunkBytes));
      for (unsigned i = 0; i < layout.sums; i += 4)
        b.store(b.vector(Regs(owned.begin() + i, owned.begin() + i + 4)),
                placeIn(chunk, i / 4), 16);
    });
  b.fenceAsync();
  b.syncNamed(1, groupThreads);
  b.ifThen(eq(thread, 0), [&] {
    Reg bytes = sendBytes();
    for (unsigned owner = 0; owner < tile.cluster; ++owner)
      b.ifThen(ne(rank, int(owner)), [&] {
        // The place among what the owner receives: without its own.
        Reg slot = b.select(lt(rank, int(owner)), rank, rank - 1);
        b.send(
            b.at(shared, slot * int(layout.chunkBytes) + int(layout.received)),
            b.at(shared, int(owner * layout.chunkBytes)), arrived,
            b.constant(owner), bytes);
      });
  });
}

Regs FewRowsWriter::total(const Regs &sums) {
  Regs total;
  for (unsigned from = 0; from < tile.cluster; ++from) {
    auto received = [&] {
      Reg slot = b.select(gt(rank, int(from)), b.constant(from),
                          b.constant(int64_t(from) - 1));
      Reg chunk =
          b.at(shared, slot * int(layout.chunkBytes) + int(layout.received));
      Regs values;
      for (unsigned i = 0; i < layout.sums; i += 4)
        for (Reg value : b.elements(
                 b.load(placeIn(chunk, i / 4), b.vectorOf(4, b.f32()), 16)))
          values.push_back(value);
      return values;
    };
    Regs part = b.ifValues(ne(rank, int(from)), received, ownedBy(sums, from));
    for (unsigned i = 0; i < part.size(); ++i)
      if (from == 0)
        total.push_back(part[i]);
      else
        total[i] = total[i] + part[i];
  }
  return total;
}

void FewRowsWriter::store(const Regs &sums) {
  Region region(b, matmul.epilogue, isBf16(spec.out.element));
  for (unsigned i = 0; i < layout.own; i += 2) {
    // Four sums of two rows for each 8 columns.
    Reg at = column + rank * int(tile.columns / tile.cluster) +
             fragments->column + int(8 * (i / 4));
    Reg line = row + fragments->row + int(8 * (i / 2 % 2));
    std::vector<Regs> read(direct.count());
    for (unsigned x = 0; x < direct.count(); ++x)
      read[x] = direct.at(x, line, at);
    Regs pair;
    for (unsigned e : {0, 1}) {
      Regs arguments;
      for (int a = 0; a < matmul.accumulators; ++a)
        arguments.push_back(sums[a * layout.own + i + e]);
      for (const Regs &two : read)
        arguments.push_back(two[e]);
      pair.push_back(region.apply(arguments));
    }
    direct.store(pair, line, at);
  }
}

void FewRowsWriter::consume() {
  b.waitForEarlierKernels();
  fragments.emplace(b, thread);
  direct.begin(b, rows);
  Regs sums = tile.cluster > 1 ? sum() : sumAlone();
  if (tile.cluster > 1)
    sendAll(sums);
  b.ifThen(lt(thread / 32, warps), [&] {
    if (tile.cluster > 1)
      b.waitBarrier(arrived, b.constant(0));
    store(total(sums));
  });
}

Kernel writeFewRows(mlir::MLIRContext &context, const KernelSpec &spec,
                    const FewRowsTile &tile, const std::string &entry) {
  return FewRowsWriter(context, spec, tile, entry).write();
}

} // namespace mille::nvvm

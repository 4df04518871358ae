// Of the eight tile registers four hold sums, two rows of the input and two
// columns of the weight: a product follows another without waiting for it, and
// sums are stored while others are made.
// Must not read past the rows.
#include "compiler/halide/instructions/BlockTileInstructions.h"

#include "compiler/halide/instructions/Placeholders.h"
#include "compiler/halide/instructions/TileEmitter.h"

#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <deque>

using namespace llvm;
using namespace mille;

namespace {

constexpr int sumRegisters = 4, firstInput = 4, firstWeight = 6;
constexpr int groupBytes = 4; // of K, which lie side by side in a weight

// The constants of a call, by the names of BlockTiles.
struct Form {
  explicit Form(const CallInst &call)
      : tileRows(at(call, 0)), accumulators(at(call, 1)), blocks(at(call, 2)),
        parts(at(call, 3)), partBytes(at(call, 4)), rowBytes(at(call, 5)),
        groupBytes(at(call, 6)), weightBlockBytes(at(call, 7)) {}
  int64_t tileRows, accumulators, blocks, parts, partBytes, rowBytes,
      groupBytes, weightBlockBytes;

  SmallVector<TileShape> shapes() const {
    SmallVector<TileShape> all(sumRegisters, {0, registerBytes});
    all.append(2, {0, int(partBytes)});
    all.append(2, {int(partBytes) / ::groupBytes, registerBytes});
    return all;
  }

private:
  static constexpr unsigned places = 7; // of what is no constant
  static int64_t at(const CallInst &call, unsigned i) {
    return cast<ConstantInt>(call.getArgOperand(places + i))->getSExtValue();
  }
};

// Builds the instructions in the place of one call.
class BlocksBuilder {
public:
  explicit BlocksBuilder(CallInst &call)
      : form(call), builder(&call), tiles(builder), input(place(call, 0)),
        weight(place(call, 2)), sums(place(call, 4)) {}

  void build() {
    for (int64_t block = 0; block < form.blocks; ++block)
      for (int64_t part = 0; part < form.parts; ++part)
        for (int64_t a = 0; a < form.accumulators; ++a)
          addPart(block, part, a);
    while (!waiting.empty())
      storeFirst();
  }

private:
  // A buffer and the byte in it are arguments side by side.
  Value *place(const CallInst &call, unsigned i) {
    return builder.CreateGEP(builder.getInt8Ty(), call.getArgOperand(i),
                             call.getArgOperand(i + 1));
  }
  Value *plus(Value *address, int64_t offset) {
    return builder.CreateConstGEP1_64(builder.getInt8Ty(), address,
                                      uint64_t(offset));
  }
  Value *bytes(int64_t count) { return builder.getInt64(uint64_t(count)); }

  // Stores the sums made before by now, all but the last two: those are not
  // ready.
  void addPart(int64_t block, int64_t part, int64_t a) {
    const int sum = int(made % sumRegisters),
              operand = firstInput + int((block * form.parts + part) % 2),
              columns = firstWeight + int(made % 2);
    ++made;
    const int64_t inBlock = part * form.partBytes;
    tiles.zero(sum);
    if (a == 0)
      tiles.load(operand,
                 plus(input, block * form.parts * form.partBytes + inBlock),
                 bytes(form.rowBytes));
    tiles.load(columns,
               plus(weight, block * form.weightBlockBytes +
                                inBlock / groupBytes * form.groupBytes +
                                a * registerBytes),
               bytes(form.groupBytes));
    tiles.multiply(TileProduct::signedByUnsigned, sum, operand, columns);
    waiting.push_back(
        {sum,
         ((block * form.parts + part) * form.tileRows * form.accumulators + a) *
             registerBytes});
    if (waiting.size() == sumRegisters - 1)
      storeFirst();
  }

  void storeFirst() {
    const auto [sum, to] = waiting.front();
    waiting.pop_front();
    tiles.store(sum, plus(sums, to), bytes(form.accumulators * registerBytes));
  }

  const Form form;
  IRBuilder<> builder;
  TileEmitter tiles;
  Value *input, *weight, *sums;
  int64_t made = 0;
  std::deque<std::pair<int, int64_t>> waiting; // register, byte in the sums
};

// Fewer rows than a tile's have registers of so many.
void replace(CallInst &call) {
  const Form form(call);
  IRBuilder<> builder(&call);
  Value *rows = call.getArgOperand(6);
  auto configure = [&](Instruction *before, Value *to) {
    IRBuilder<> there(before);
    TileEmitter(there).configure(form.shapes(), to);
  };
  Value *isPart =
      builder.CreateICmpNE(rows, builder.getInt32(uint32_t(form.tileRows)));
  Instruction *then = SplitBlockAndInsertIfThen(isPart, &call, false);
  configure(then, rows);
  BlocksBuilder(call).build();
  then = SplitBlockAndInsertIfThen(isPart, &call, false);
  configure(then, builder.getInt32(uint32_t(form.tileRows)));
  call.replaceAllUsesWith(builder.getInt32(0));
  call.eraseFromParent();
}

} // namespace

void mille::sumBlocksByInstructions(Module &module) {
  SmallVector<std::pair<Function *, Form>> callers;
  replaceCalls(module, blockTilesName, [&](CallInst &call) {
    Function *caller = call.getFunction();
    if (none_of(callers, [&](auto &of) { return of.first == caller; }))
      callers.push_back({caller, Form(call)});
    replace(call);
  });
  for (auto &[caller, form] : callers)
    configureAround(*caller, form.shapes(), int(form.tileRows));
}

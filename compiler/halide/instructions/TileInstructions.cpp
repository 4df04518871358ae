// Of the eight tile registers six hold sums (two rows of at most three tiles),
// one holds rows of the input and one columns of the weight: more registers for
// operands would leave fewer sums, with more loads for each.
// Must not read past the rows or past K.
#include "compiler/halide/instructions/TileInstructions.h"

#include "compiler/halide/instructions/Placeholders.h"
#include "compiler/halide/instructions/PrefetchInstruction.h"
#include "compiler/halide/instructions/TileEmitter.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace mille;

namespace {

constexpr int inputRegister = 6, weightRegister = 7;
// All registers follow a call's rows, except the weight's, which has 16.
constexpr TileShape follows{0, registerBytes},
    shapes[tileRegisterCount] = {
        follows, follows, follows, follows,
        follows, follows, follows, {registerRows, registerBytes}};
constexpr int64_t linesTogether = 4; // prefetched as a group

// The arguments of a call: constants, or arguments of the function that it
// becomes.
struct Arguments {
  SmallVector<Value *> values;

  Value *operator[](unsigned i) const { return values[i]; }
  int64_t number(unsigned i) const {
    return cast<ConstantInt>(values[i])->getSExtValue();
  }
};

// The addresses of the input and the weight that a step of K reads.
struct Operands {
  Value *upper, *lower; // of the input: the upper and the lower tile of rows
  int64_t inputStride;
  Value *weight;
  int64_t weightStride, columnBytes;
  bool unwritten = false; // see TileEmitter::load
};

// Builds the instructions of one call.
class SumsBuilder {
public:
  SumsBuilder(Function &function, const Arguments &a)
      : tileColumns(a.number(12)), columnBytes(a.number(13)),
        rowBytes(a.number(14)), stepBytes(a.number(15)),
        groupBytes(a.number(16)), weightStepBytes(a.number(17)),
        restBytes(a.number(18) % registerBytes), ofBytes(a.number(19)),
        adds(a.number(20)), parts(a.number(21)), function(function),
        builder(block("entry")), tiles(builder), input(plus(a[0], a[1])),
        weight(plus(a[2], a[3])), sums(plus(a[4], a[5])),
        ahead(plus(a[2], a[6])), lines(a[7]), rows(a[8]), steps(wide(a[9])),
        from(wide(a[10])), to(wide(a[11])) {}

  void build() {
    when(builder.CreateICmpNE(rows, builder.getInt32(0)), [&] { buildSome(); });
    builder.CreateRet(builder.getInt32(0));
  }

  // Without all parts other work comes between this call and the next.
  bool isWhole() const { return parts == allParts; }

private:
  bool has(TileParts part) const { return parts & part; }

  void buildSome() {
    Value *several =
        builder.CreateICmpSGT(rows, builder.getInt32(registerRows));
    // Two tiles of equal height; their rows overlap in the middle.
    Value *half =
        builder.CreateLShr(builder.CreateAdd(rows, builder.getInt32(1)), 1);
    height = builder.CreateSelect(several, half, rows);
    Value *isPart =
        builder.CreateICmpNE(height, builder.getInt32(registerRows));
    if (has(opensSums))
      when(isPart, [&] { tiles.configure(shapes, height); });
    BasicBlock *two = block("two"), *one = block("one"), *end = block("end");
    builder.CreateCondBr(several, two, one);
    for (auto [place, count] : {std::pair{two, 2}, std::pair{one, 1}}) {
      builder.SetInsertPoint(place);
      sum(count);
      builder.CreateBr(end);
    }
    builder.SetInsertPoint(end);
    if (has(storesSums))
      when(isPart,
           [&] { tiles.configure(shapes, builder.getInt32(registerRows)); });
  }

  BasicBlock *block(const char *name) {
    return BasicBlock::Create(function.getContext(), name, &function);
  }
  Value *bytes(int64_t count) { return builder.getInt64(uint64_t(count)); }
  Value *wide(Value *number) {
    return builder.CreateZExt(number, builder.getInt64Ty());
  }
  Value *times(Value *number, int64_t by) {
    return builder.CreateMul(number, bytes(by));
  }
  Value *plus(Value *address, Value *offset) {
    return builder.CreateGEP(builder.getInt8Ty(), address, offset);
  }
  int sumRegister(int row, int column) const { return row * 3 + column; }

  // A constant condition makes no branch: the other side is not emitted.
  void when(Value *condition, function_ref<void()> then) {
    if (auto *known = dyn_cast<ConstantInt>(condition)) {
      if (known->isOne())
        then();
      return;
    }
    BasicBlock *body = block("when"), *after = block("after");
    builder.CreateCondBr(condition, body, after);
    builder.SetInsertPoint(body);
    then();
    builder.CreateBr(after);
    builder.SetInsertPoint(after);
  }

  void repeat(Value *count, function_ref<void(Value *)> turn) {
    when(builder.CreateICmpNE(count, bytes(0)), [&] {
      BasicBlock *before = builder.GetInsertBlock(), *body = block("loop"),
                 *after = block("done");
      builder.CreateBr(body);
      builder.SetInsertPoint(body);
      PHINode *number = builder.CreatePHI(builder.getInt64Ty(), 2);
      number->addIncoming(bytes(0), before);
      turn(number);
      Value *next = builder.CreateAdd(number, bytes(1));
      number->addIncoming(next, builder.GetInsertBlock());
      builder.CreateCondBr(builder.CreateICmpULT(next, count), body, after);
      builder.SetInsertPoint(after);
    });
  }

  // Rows from the first row of the upper tile to the first of the lower.
  Value *lowerBy() { return wide(builder.CreateSub(rows, height)); }

  // Adds the sums of `count` tiles of rows.
  void sum(int count) {
    const int64_t stride = tileColumns * registerBytes;
    auto eachSum = [&](function_ref<void(int, Value *)> visit) {
      for (int row = 0; row < count; ++row)
        for (int column = 0; column < tileColumns; ++column)
          visit(sumRegister(row, column),
                plus(plus(sums, row ? times(lowerBy(), stride) : bytes(0)),
                     bytes(column * registerBytes)));
    };
    if (has(opensSums))
      eachSum([&](int tile, Value *place) {
        adds ? tiles.load(tile, place, bytes(stride)) : tiles.zero(tile);
      });
    addSteps(count);
    if (restBytes && has(addsRest))
      step(count, rest(), [](int64_t) {});
    if (has(storesSums))
      eachSum([&](int tile, Value *place) {
        tiles.store(tile, place, bytes(stride));
      });
  }

  void addSteps(int count) {
    Value *lower = plus(input, times(lowerBy(), rowBytes));
    Value *groups = groupsOfLines(),
          *each = dividedUp(groups, bytes(tileColumns));
    repeat(builder.CreateSub(to, from), [&](Value *turn) {
      Value *k = builder.CreateAdd(from, turn), *across = times(k, stepBytes);
      Value *asked = builder.CreateMul(k, groups);
      step(count,
           {plus(input, across), plus(lower, across), rowBytes,
            plus(weight, times(k, weightStepBytes)), groupBytes, columnBytes,
            /*unwritten=*/!isWhole()},
           [&](int64_t time) {
             Value *first = times(each, time);
             when(builder.CreateICmpULT(first, groups),
                  [&] { prefetch(builder.CreateAdd(asked, first), each); });
           });
      stayAwake(k);
    });
  }

  // AMX units power down: a core that has not stored a tile for some 2000
  // cycles takes 900 cycles to store the next one.
  void stayAwake(Value *k) {
    constexpr uint64_t often =
        8; // steps, some 1500 cycles where weights come from L2
    Value *isTurn =
        builder.CreateICmpEQ(builder.CreateAnd(k, bytes(often - 1)), bytes(0));
    when(isTurn, [&] { tiles.storeNowhere(inputRegister); });
  }

  // Groups of lines to prefetch in a step.
  Value *groupsOfLines() {
    if (match(lines, PatternMatch::m_ZeroInt()))
      return bytes(0);
    Value *loops =
        builder.CreateBinaryIntrinsic(Intrinsic::umax, steps, bytes(1));
    return dividedUp(wide(lines), times(loops, linesTogether));
  }

  Value *dividedUp(Value *number, Value *by) {
    return builder.CreateUDiv(
        builder.CreateAdd(number, builder.CreateSub(by, bytes(1))), by);
  }

  // Prefetches `count` groups of lines, from `group` on.
  void prefetch(Value *group, Value *count) {
    constexpr int64_t line = 64;
    repeat(count, [&](Value *turn) {
      Value *first = plus(
          ahead, times(builder.CreateAdd(group, turn), linesTogether * line));
      for (int64_t i = 0; i < linesTogether; ++i)
        emitPrefetchIntoL2(builder, plus(first, bytes(line * i)));
    });
  }

  // Crosses the columns there and back, so that the last weights serve both
  // tiles of rows. Between columns it calls `ask`, which prefetches a share:
  // prefetches made at once would delay the loads of the products. BERT-base at
  // 32 tokens takes 6 to 12 % less time in bf16, 2 to 9 % in int8; at 128 up to
  // 4 %.
  void step(int count, const Operands &from, function_ref<void(int64_t)> ask) {
    for (int row = 0; row < count; ++row) {
      tiles.load(inputRegister, row ? from.lower : from.upper,
                 bytes(from.inputStride), from.unwritten);
      for (int64_t i = 0; i < tileColumns; ++i) {
        const int64_t column = row ? tileColumns - 1 - i : i;
        if (!row || i > 0)
          tiles.load(weightRegister,
                     plus(from.weight, bytes(column * from.columnBytes)),
                     bytes(from.weightStride), from.unwritten);
        tiles.multiply(
            ofBytes ? TileProduct::unsignedBySigned : TileProduct::pairsOfBf16,
            sumRegister(row, int(column)), inputRegister, weightRegister);
        if (const int64_t products = row * tileColumns + i;
            products % count == 0)
          ask(products / count);
      }
    }
  }

  AllocaInst *zeros(int64_t count) {
    AllocaInst *place = onStack(builder, count);
    builder.CreateMemSet(place, builder.getInt8(0), uint64_t(count), Align(64));
    return place;
  }

  // Copies the values of K after the last whole step to memory padded with
  // zeros.
  Operands rest() {
    const int64_t across = tileColumns * registerBytes;
    AllocaInst *inputs = zeros(2 * registerRows * registerBytes);
    AllocaInst *weights = zeros(registerRows * across);
    auto *line = FixedVectorType::get(builder.getInt8Ty(), registerBytes);
    SmallVector<Constant *> lanes;
    for (int i = 0; i < registerBytes; ++i)
      lanes.push_back(builder.getInt1(i < restBytes));
    Value *inputRest = plus(input, times(steps, stepBytes));
    Value *weightRest = plus(weight, times(steps, weightStepBytes));
    repeat(wide(rows), [&](Value *row) {
      Value *values = builder.CreateMaskedLoad(
          line, plus(inputRest, times(row, rowBytes)), Align(1),
          ConstantVector::get(lanes), Constant::getNullValue(line));
      builder.CreateAlignedStore(
          values, plus(inputs, times(row, registerBytes)), Align(64));
    });
    repeat(bytes((restBytes + 3) / 4), [&](Value *group) {
      Value *from = plus(weightRest, times(group, groupBytes));
      Value *to = plus(weights, times(group, across));
      for (int64_t column = 0; column < tileColumns; ++column)
        builder.CreateAlignedStore(
            builder.CreateAlignedLoad(
                line, plus(from, bytes(column * columnBytes)), Align(1)),
            plus(to, bytes(column * registerBytes)), Align(64));
    });
    Value *lower = plus(inputs, times(lowerBy(), registerBytes));
    return {inputs, lower, registerBytes, weights, across, registerBytes};
  }

  const int64_t tileColumns, columnBytes, rowBytes, stepBytes, groupBytes,
      weightStepBytes, restBytes;
  const bool ofBytes, adds;
  const int64_t parts;
  Function &function;
  IRBuilder<> builder;
  TileEmitter tiles;
  Value *input, *weight, *sums;
  Value *ahead, *lines; // to prefetch: the first byte and the lines
  Value *rows, *steps, *from, *to;
  Value *height = nullptr; // rows of a tile
};

void replace(CallInst &call) {
  Module &module = *call.getModule();
  SmallVector<Value *> passed;
  SmallVector<Type *> types;
  for (Value *argument : call.args())
    if (!isa<Constant>(argument)) {
      passed.push_back(argument);
      types.push_back(argument->getType());
    }
  Function *body = Function::Create(
      FunctionType::get(call.getType(), types, false),
      GlobalValue::InternalLinkage, Twine(tileSumsName) + "_of_call", module);
  body->addFnAttr(Attribute::NoUnwind);
  Arguments arguments;
  auto next = body->arg_begin();
  for (Value *argument : call.args())
    arguments.values.push_back(isa<Constant>(argument) ? argument : &*next++);
  SumsBuilder sums(*body, arguments);
  sums.build();
  IRBuilder<> builder(&call);
  CallInst *made = builder.CreateCall(body, passed);
  call.replaceAllUsesWith(made);
  call.eraseFromParent();
  // A call that is not inlined would spill the vectors of the epilogue.
  InlineFunctionInfo info;
  if (!sums.isWhole() && InlineFunction(*made, info).isSuccess())
    body->eraseFromParent();
}

} // namespace

void mille::sumByInstructions(Module &module) {
  SetVector<Function *> callers;
  replaceCalls(module, tileSumsName, [&](CallInst &call) {
    callers.insert(call.getFunction());
    replace(call);
  });
  for (Function *caller : callers)
    configureAround(*caller, shapes, registerRows);
}

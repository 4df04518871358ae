// Kernel ops on tensors become kernel ops on memrefs: buffers in one arena,
// inputs and outputs as arguments. Rewrites no arithmetic.
#include "compiler/plan/CheckProgram.h"
#include "compiler/plan/Lives.h"
#include "compiler/plan/Passes.h"
#include "dialects/kernel/Signature.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "runtime/abi.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

namespace mille::plan {
#define GEN_PASS_DEF_PLANMEMORY
#include "compiler/plan/Passes.h.inc"
} // namespace mille::plan

using namespace mlir;
using namespace mille;
using namespace mille::kernel;
using namespace mille::plan;

namespace {

struct Rewrite {
  func::FuncOp forward;
  Lives &lives;
  SmallVector<std::pair<RowSpace, Value>> rowCounts; // made so far
  SmallVector<Value> outputs;
  IRMapping to; // tensors -> memrefs; indices
  DenseMap<Buffer *, Value> arena;
  SmallVector<Value> streamOut; // of the body at hand
  Value blockRows;              // of the block at hand; null: the run's

  Rewrite(func::FuncOp forward, Lives &lives)
      : forward(forward), lives(lives) {}

  // The memref of a buffer. Made where the walk is, outside any launch.
  Value memrefOf(Buffer *buffer, OpBuilder &builder, Location loc) {
    Value &value = arena[buffer];
    if (!value)
      value = ArenaOp::create(builder, loc, buffer->type,
                              blockRows ? blockRows : rowsOf(buffer->rows),
                              buffer->offset,
                              /*per_layer=*/nullptr, buffer->fixed);
    return value;
  }

  // What the layer at hand saves, or has saved, under that name.
  Value savedAs(StringRef name, OpBuilder &builder, Location loc) {
    const SavedBuffer &saved = lives.saved.find(name)->second;
    return ArenaOp::create(builder, loc, saved.buffer->type,
                           rowsOf(saved.buffer->rows), saved.buffer->offset,
                           builder.getI64IntegerAttr(saved.perLayer),
                           /*fixed=*/false);
  }

  // The number of rows, as an index made where the function begins.
  Value rowsOf(const RowSpace &space) {
    for (auto &[known, value] : rowCounts)
      if (known == space)
        return value;
    Block *entry = &forward.getBody().back();
    auto size = [&](StringRef name) {
      return entry->getArgument(sizeArgument(forward, name).getArgNumber());
    };
    Value value = size(sizes::batch);
    OpBuilder builder = OpBuilder::atBlockBegin(entry);
    Location loc = forward.getLoc();
    if (!space.size.empty())
      value = arith::MulIOp::create(builder, loc, value, size(space.size));
    if (space.times != 1)
      value = arith::MulIOp::create(
          builder, loc, value,
          arith::ConstantIndexOp::create(builder, loc, space.times));
    rowCounts.push_back({space, value});
    return value;
  }

  // Where a result goes.
  Value outOf(Value result, OpBuilder &builder) {
    if (auto direct = lives.direct.find(result); direct != lives.direct.end())
      return outputs[direct->second];
    if (auto out = lives.streamOut.find(result); out != lives.streamOut.end())
      return streamOut[out->second];
    if (auto in = lives.savedIn.find(result); in != lives.savedIn.end())
      return savedAs(in->second, builder, result.getLoc());
    if (Value held = recalledBy(result))
      return to.lookup(held);
    return memrefOf(lives.bufferOf.lookup(result), builder, result.getLoc());
  }

  // `op` with memrefs for tensors and no results.
  void rewriteOp(Operation &op, OpBuilder &builder) {
    auto kernel = cast<DestinationStyleOpInterface>(op);
    SmallVector<Value> operands;
    for (OpOperand &operand : op.getOpOperands())
      operands.push_back(to.lookup(kernel.isDpsInit(&operand)
                                       ? kernel.getTiedOpResult(&operand)
                                       : operand.get()));
    OperationState state(op.getLoc(), op.getName(), operands, {},
                         op.getDiscardableAttrDictionary().getValue());
    state.propertiesAttr = op.getPropertiesAsAttribute();
    for (Region &region : op.getRegions())
      region.cloneInto(state.addRegion(), to);
    builder.create(state);
  }

  void mapOuts(Operation &op, OpBuilder &builder) {
    if (!hasDestinations(&op))
      return;
    for (Value result : op.getResults())
      to.map(result, outOf(result, builder));
  }

  void rewriteLaunch(LaunchOp launch, OpBuilder &builder) {
    for (Operation &op : launch.getBody().front())
      mapOuts(op, builder);
    auto fresh = LaunchOp::create(builder, launch.getLoc(), TypeRange());
    builder.createBlock(&fresh.getBody());
    for (Operation &op : launch.getBody().front().without_terminator())
      if (!isa<tensor::EmptyOp>(op))
        hasDestinations(&op) ? rewriteOp(op, builder)
                             : void(builder.clone(op, to));
    YieldOp::create(builder, launch.getLoc(), ValueRange());
    builder.setInsertionPointAfter(fresh);
    for (Value outcome : launch.getOutcomes())
      to.map(outcome, to.lookup(rootOf(outcome)));
  }

  void rewriteLoop(LayersOp layers, OpBuilder &builder) {
    Location loc = layers.getLoc();
    SmallVector<Value> pairs; // current and other, for each value handed over
    for (auto [loop, initial] :
         llvm::zip(lives.loops.find(layers)->second, layers.getStream())) {
      pairs.push_back(memrefOf(loop.current, builder, loc));
      pairs.push_back(memrefOf(loop.other, builder, loc));
      if (loop.copyIn)
        copyRows(builder, loc, to.lookup(initial), pairs.end()[-2]);
    }
    auto fresh = LayersOp::create(
        builder, loc, TypeRange(), pairs, layers.getSlots(), layers.getBodies(),
        layers.getTable(), layers.getReverse(), layers->getNumRegions());
    fresh->setDiscardableAttrs(layers->getDiscardableAttrDictionary());
    for (auto [from, into] :
         llvm::zip(layers->getRegions(), fresh->getRegions())) {
      Block *block =
          builder.createBlock(&into, {}, TypeRange(ValueRange(pairs)),
                              SmallVector<Location>(pairs.size(), loc));
      streamOut.clear();
      for (BlockArgument argument : from.front().getArguments()) {
        unsigned in = 2 * argument.getArgNumber();
        to.map(argument, block->getArgument(in));
        streamOut.push_back(block->getArgument(in + 1));
      }
      rewriteBlock(from.front(), builder);
      for (auto [yielded, out] :
           llvm::zip(from.front().getTerminator()->getOperands(), streamOut))
        if (to.lookup(yielded) != out)
          copyRows(builder, loc, to.lookup(yielded), out);
      YieldOp::create(builder, loc, ValueRange());
    }
    builder.setInsertionPointAfter(fresh);
    bool even = layers.getBodies().size() % 2 == 0;
    for (auto [number, outcome] : llvm::enumerate(layers.getOutcomes()))
      to.map(outcome, pairs[2 * number + (even ? 0 : 1)]);
  }

  void rewriteRowBlocks(RowBlocksOp blocks, OpBuilder &builder) {
    Location loc = blocks.getLoc();
    mapOuts(*blocks, builder);
    SmallVector<Value> inputs, outs;
    for (Value input : blocks.getInputs())
      inputs.push_back(to.lookup(input));
    for (Value result : blocks.getResults())
      outs.push_back(to.lookup(result));
    auto fresh = RowBlocksOp::create(builder, loc, TypeRange(),
                                     blocks.getRows(), inputs, outs);
    SmallVector<Type> takes{builder.getIndexType()};
    llvm::append_range(takes, ValueRange(inputs).getTypes());
    llvm::append_range(takes, ValueRange(outs).getTypes());
    Block &from = blocks.getBody().front();
    Block *block = builder.createBlock(
        &fresh.getBody(), {}, takes, SmallVector<Location>(takes.size(), loc));
    for (auto [old, argument] :
         llvm::zip(from.getArguments(), block->getArguments()))
      to.map(old, argument);
    blockRows = block->getArgument(0);
    streamOut = SmallVector<Value>(
        block->getArguments().drop_front(from.getNumArguments()));
    rewriteBlock(from, builder);
    for (auto [yielded, out] :
         llvm::zip(from.getTerminator()->getOperands(), streamOut))
      if (to.lookup(yielded) != out)
        copyRows(builder, loc, to.lookup(yielded), out);
    blockRows = nullptr;
    YieldOp::create(builder, loc, ValueRange());
    builder.setInsertionPointAfter(fresh);
  }

  // Copies what was not written in place.
  void rewriteSave(SaveOp save, OpBuilder &builder) {
    auto in = lives.savedIn.find(rootOf(save.getInput()));
    if (in == lives.savedIn.end() || in->second != save.getName())
      copyRows(builder, save.getLoc(), to.lookup(save.getInput()),
               savedAs(save.getName(), builder, save.getLoc()));
  }

  void rewriteBlock(Block &block, OpBuilder &builder) {
    for (Operation &op : block.without_terminator()) {
      if (isa<tensor::EmptyOp>(op))
        continue;
      if (auto layers = dyn_cast<LayersOp>(op)) {
        rewriteLoop(layers, builder);
      } else if (auto blocks = dyn_cast<RowBlocksOp>(op)) {
        rewriteRowBlocks(blocks, builder);
      } else if (auto launch = dyn_cast<LaunchOp>(op)) {
        rewriteLaunch(launch, builder);
      } else if (auto weight = dyn_cast<WeightOp>(op)) {
        auto type = cast<RankedTensorType>(weight.getResult().getType());
        to.map(weight.getResult(),
               WeightOp::create(builder, op.getLoc(), exactType(type),
                                weight.getValue())
                   .getResult());
      } else if (auto gradient = dyn_cast<GradientOp>(op)) {
        auto type = cast<RankedTensorType>(gradient.getResult().getType());
        to.map(gradient.getResult(),
               GradientOp::create(builder, op.getLoc(), exactType(type),
                                  gradient.getParameterAttr())
                   .getResult());
      } else if (auto save = dyn_cast<SaveOp>(op)) {
        rewriteSave(save, builder);
      } else if (auto saved = dyn_cast<SavedOp>(op)) {
        to.map(saved.getResult(),
               savedAs(saved.getName(), builder, op.getLoc()));
      } else if (auto recall = dyn_cast<RecallOp>(op)) {
        auto type = cast<RankedTensorType>(recall.getResult().getType());
        to.map(recall.getResult(),
               RecallOp::create(builder, op.getLoc(), exactType(type),
                                to.lookup(recall.getState()),
                                to.lookup(recall.getRows()), recall.getIndex())
                   .getResult());
      } else if (isa<DestinationStyleOpInterface>(op)) {
        mapOuts(op, builder);
        rewriteOp(op, builder);
      } else {
        builder.clone(op, to);
      }
    }
  }

  // Copies the outputs that were not written in place; the runtime copies whole
  // streams.
  void copyOutputs(Operation *end, const Signature &signature,
                   OpBuilder &builder) {
    for (OpOperand &operand : end->getOpOperands()) {
      unsigned number = operand.getOperandNumber();
      const TensorInfo &info = signature.outputs[number];
      Value from = to.lookup(operand.get());
      if (from == outputs[number])
        continue;
      if (info.shape.size() == 3 || info.element == kernel::PortElement::i32)
        KeepOp::create(builder, end->getLoc(), from,
                       builder.getStringAttr(info.name),
                       builder.getI64IntegerAttr(0));
      else
        copyRows(builder, end->getLoc(), from, outputs[number]);
    }
  }
};

// The planned function's type and attributes, in place of the tensors'.
void rewriteSignature(func::FuncOp forward, const Signature &signature,
                      Block &entry, SmallVectorImpl<Value> &outputs) {
  MLIRContext *context = forward.getContext();
  SmallVector<DictionaryAttr> attributes;
  for (unsigned i = 0; i < forward.getNumArguments(); ++i) {
    DictionaryAttr given = forward.getArgAttrDict(i);
    attributes.push_back(given ? given : DictionaryAttr::get(context));
    Type type = forward.getArgumentTypes()[i];
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      type = exactType(tensor);
    entry.addArgument(type, forward.getArgument(i).getLoc());
  }
  Builder builder(context);
  for (auto [number, info] : llvm::enumerate(signature.outputs)) {
    NamedAttrList list;
    Type type;
    if (number < forward.getNumResults()) {
      type =
          exactType(cast<RankedTensorType>(forward.getResultTypes()[number]));
      if (DictionaryAttr given = forward.getResultAttrDict(number))
        list = NamedAttrList(given);
    } else { // written by kernel.keep (entries x rows) or kernel.similarity
      ShapeExtent columns = info.shape.back();
      type = MemRefType::get({ShapedType::kDynamic, columns.isSize()
                                                        ? ShapedType::kDynamic
                                                        : columns.count},
                             builder.getF32Type());
      list.set("transformer.name", builder.getStringAttr(info.name));
    }
    list.set("transformer.shape",
             transformer::ShapeAttr::get(context, info.shape));
    list.set("kernel.output", builder.getUnitAttr());
    attributes.push_back(list.getDictionary(context));
    outputs.push_back(entry.addArgument(type, forward.getLoc()));
  }
  forward.removeResAttrsAttr();
  forward.setFunctionType(
      builder.getFunctionType(entry.getArgumentTypes(), {}));
  forward.setAllArgAttrs(attributes);
}

// Whether a launch's kernels share tasks follows from a run's rows and threads.
void remarkOn(LaunchOp launch) {
  int64_t kernels = 0, weights = 0;
  for (Operation &op : launch.getBody().front()) {
    kernels += hasDestinations(&op);
    if (auto matmul = dyn_cast<MatmulOp>(op)) {
      auto type = cast<ShapedType>(matmul.getWeight().getType());
      weights += type.getNumElements() * type.getElementTypeBitWidth() / 8;
    }
  }
  if (kernels < 2)
    return;
  remark::passed(launch.getLoc(),
                 remark::RemarkOpts::name("PlanLaunch").category("plan"))
      << llvm::formatv(
             "one task takes its rows through {0} kernels, reading {1} "
             "bytes of weights, where each thread has {2} rows or "
             "more; with fewer, or where threads multiply narrow types in "
             "tile registers, they are {0} launches, cut by columns",
             kernels, weights, int64_t(MILLE_OWNED_ROWS))
             .str();
}

void remarkOn(func::FuncOp forward, const Lives &lives, ArenaBytes bytes) {
  auto options = remark::RemarkOpts::name("PlanMemory").category("plan");
  llvm::SmallSetVector<MemRefType, 8> padded;
  for (const Buffer &buffer : lives.buffers)
    if (!buffer.type.getLayout().isIdentity())
      padded.insert(buffer.type);
  for (MemRefType type : padded)
    remark::passed(forward.getLoc(), options)
        << llvm::formatv("rows of {0} bytes take {1}",
                         type.getDimSize(1) * type.getElementTypeBitWidth() / 8,
                         bytesPerRow(type, RowSpace()))
               .str();
  remark::passed(forward.getLoc(), options)
      << llvm::formatv("arena of {0} buffers takes {1} bytes per row, {2} "
                       "without reuse{3}",
                       lives.buffers.size(), bytes.perRow,
                       lives.bytesWithoutReuse,
                       bytes.fixed ? ", and " + std::to_string(bytes.fixed) +
                                         " for any number of rows"
                                   : "")
             .str();
}

// Sets the attributes that tell a run the rows of buffers, inputs and outputs.
void setArenaSizes(func::FuncOp forward, const Lives &lives, ArenaBytes bytes) {
  Builder builder(forward.getContext());
  int64_t fixedTokens = 0, slots = 1;
  bool stateRows = false;
  llvm::StringSet<> ofRuns;
  for (const SizeInfo &size : signatureOf(forward).sizes)
    if (size.ofRuns)
      ofRuns.insert(size.name);
  auto count = [&](const RowSpace &rows) {
    if (!rows.size.empty())
      slots = std::max(slots, rows.times);
    else if (rows.times > 1)
      fixedTokens = std::max(fixedTokens, rows.times);
  };
  for (const Buffer &buffer : lives.buffers) {
    if (!buffer.fixed)
      count(buffer.rows);
    stateRows |=
        !buffer.rows.size.empty() && !ofRuns.contains(buffer.rows.size);
  }
  for (BlockArgument argument : forward.getArguments())
    if (auto shape = forward.getArgAttrOfType<transformer::ShapeAttr>(
            argument.getArgNumber(), "transformer.shape"))
      if (Shape extents = shape.getShape();
          !extents.empty() && extents[0] == sizes::batch)
        count(rowSpaceOfShape(shape, cast<MemRefType>(argument.getType())));
  forward->setAttr("kernel.arena_bytes_per_row",
                   builder.getI64IntegerAttr(bytes.perRow));
  if (bytes.fixed)
    forward->setAttr("kernel.arena_fixed_bytes",
                     builder.getI64IntegerAttr(bytes.fixed));
  if (fixedTokens)
    forward->setAttr("kernel.fixed_tokens",
                     builder.getI64IntegerAttr(fixedTokens));
  if (stateRows)
    forward->setAttr("kernel.state_rows", builder.getUnitAttr());
  if (slots > 1)
    forward->setAttr("kernel.slots", builder.getI64IntegerAttr(slots));
}

LogicalResult planFunction(func::FuncOp forward) {
  Signature signature = signatureOf(forward);
  if (failed(checkExtents(forward)) || failed(checkKept(forward, signature)))
    return failure();
  FailureOr<Lives> found = findLives(forward);
  if (failed(found))
    return failure();
  Lives &lives = *found;
  ArenaBytes bytes = placeBuffers(lives.buffers);

  Block &old = forward.getBody().front();
  Block *entry = new Block();
  forward.getBody().push_back(entry);
  Rewrite rewrite(forward, lives);
  rewriteSignature(forward, signature, *entry, rewrite.outputs);
  for (auto [from, into] : llvm::zip(old.getArguments(), entry->getArguments()))
    rewrite.to.map(from, into);

  OpBuilder builder = OpBuilder::atBlockEnd(entry);
  rewrite.rewriteBlock(old, builder);
  rewrite.copyOutputs(old.getTerminator(), signature, builder);
  func::ReturnOp::create(builder, forward.getLoc());
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*entry)))
    if (isOpTriviallyDead(&op))
      op.erase();
  old.dropAllDefinedValueUses();
  old.erase();
  setArenaSizes(forward, lives, bytes);
  forward.walk([](LaunchOp launch) { remarkOn(launch); });
  remarkOn(forward, lives, bytes);
  return success();
}

struct PlanMemory : mille::plan::impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    getOperation().walk([&](func::FuncOp op) { functions.push_back(op); });
    for (func::FuncOp function : functions) {
      bool planned = function->hasAttr("kernel.arena_bytes_per_row");
      bool program = bool(sizeArgument(function, sizes::batch));
      if (!planned && program && function.getBody().hasOneBlock() &&
          failed(planFunction(function)))
        return signalPassFailure();
    }
  }
};

} // namespace

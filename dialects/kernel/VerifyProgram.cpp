// Verifiers of the ops around kernels: weights, the arena, launches, the layer
// loop. One `// Cn` per labelled constraint.
#include "dialects/kernel/Kernel.h"
#include "dialects/transformer/Symbols.h"

using namespace mlir;
using namespace mille::kernel;
using mille::shapeText;
using mille::transformer::LayerStack;

LogicalResult WeightOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto type = mille::transformer::typeOfValue(*this, getValue(), tables); // C1
  if (failed(type))
    return failure();
  if (!*type)
    return success();
  auto given = cast<ShapedType>(getResult().getType());
  Type element = given.getElementType();
  bool known = element.isF32() || element.isBF16() || element.isF16() ||
               isa<Float8E4M3FNType>(element) || element.isSignlessInteger(8) ||
               element.isSignlessInteger(32);
  if (!known || given.getShape() != (*type).getShape()) // C1
    return emitOpError() << "value is " << shapeText((*type).getShape())
                         << " but the result is " << given;
  return success();
}

LogicalResult ArenaOp::verify() {
  int64_t offset = getOffset();
  if (offset < 0 || offset % 64) // C1
    return emitOpError() << "offset is " << offset
                         << " but must be >= 0 and a multiple of 64";
  if (!getPerLayer())
    return success();
  if (getFixed()) // C2
    return emitOpError("is fixed but has per_layer");
  if (*getPerLayer() <= 0 || *getPerLayer() % 64) // C1
    return emitOpError() << "per_layer is " << *getPerLayer()
                         << " but must be > 0 and a multiple of 64";
  if ((*this)->getParentOfType<LayersOp>()) // C2
    return success();
  return emitOpError() << "has per_layer but is outside of kernel.layers";
}

LogicalResult LaunchOp::verify() {
  Block &block = getBody().front();
  for (Operation &op : block)
    if (!isa<MatmulOp, RowsOp, QuantizeOp, WeightOp, ArenaOp, YieldOp>(op) &&
        !op.hasTrait<OpTrait::ConstantLike>() &&
        op.getName().getStringRef() != "tensor.empty") { // C1
      auto error = emitOpError() << "holds " << op.getName().getStringRef()
                                 << " but only matmul, rows, quantize and "
                                    "destinations may be in a launch";
      error.attachNote(op.getLoc()) << "here";
      return error;
    }
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield) // C2
    return emitOpError("must end in kernel.yield");
  if (yield.getValues().getTypes() != getOutcomes().getTypes()) // C2
    return emitOpError() << "yields " << yield.getValues().getTypes()
                         << " but its results are " << getOutcomes().getTypes();
  return success();
}

//===-- row blocks --------------------------------------------------------===//

namespace {

bool hasRows(Type type) {
  auto shaped = cast<ShapedType>(type);
  return (shaped.getRank() == 1 || shaped.getRank() == 2) &&
         shaped.isDynamicDim(0) &&
         (shaped.getRank() == 1 || !shaped.isDynamicDim(1));
}

} // namespace

LogicalResult RowBlocksOp::verify() {
  if (int64_t(getRows()) < 1) // C1
    return emitOpError() << "rows is " << int64_t(getRows())
                         << " but must be at least 1";
  if (getInputs().empty()) // C1
    return emitOpError("has no input");
  SmallVector<Value> all(getInputs());
  llvm::append_range(all, getOuts());
  bool onTensors = isa<RankedTensorType>(all.front().getType());
  for (Value buffer : all)
    if (!hasRows(buffer.getType())) // C2
      return emitOpError() << "has an operand " << buffer.getType()
                           << " but all must be [?] or [?, N]";
  SmallVector<Type> takes{IndexType::get(getContext())};
  llvm::append_range(takes, getInputs().getTypes());
  SmallVector<Type> yields(getOuts().getTypes());
  if (!onTensors)
    takes.append(std::exchange(yields, {}));
  Block &block = getBody().front();
  if (block.getArgumentTypes() != takes) // C3
    return emitOpError() << "has a body that takes " << block.getArgumentTypes()
                         << " but must take " << takes;
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield || yield.getValues().getTypes() != yields) // C3
    return emitOpError() << "has a body that must yield " << yields.size()
                         << " values of the outs' types";
  if (getResults().size() != (onTensors ? getOuts().size() : 0)) // C4
    return emitOpError() << "has " << getResults().size() << " results but "
                         << (onTensors ? "outs are tensors"
                                       : "outs are memrefs");
  for (Operation *around = (*this)->getParentOp(); around;
       around = around->getParentOp())
    if (isa<LayersOp, LaunchOp, RowBlocksOp>(around)) { // C5
      auto error = emitOpError("is in a loop or in a launch");
      error.attachNote(around->getLoc()) << "here";
      return error;
    }
  return success();
}

//===-- layers ------------------------------------------------------------===//
// The interface checks C1 to C3, in transformer/LayerStack.cpp.

namespace {

// On tensors a body takes and yields the stream's values; on memrefs it takes,
// for each, the buffer to read and the one to write.
LogicalResult verifyBody(LayersOp op, size_t index, Block &block,
                         TypeRange takes, TypeRange yields) {
  if (block.getArgumentTypes() != takes) // C4
    return op.emitOpError()
           << "body " << index << " takes " << block.getArgumentTypes()
           << " but must take " << takes;
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield || yield.getValues().getTypes() != yields) // C4
    return op.emitOpError() << "body " << index << " must yield "
                            << yields.size() << " values of the stream's types";
  return success();
}

} // namespace

LogicalResult LayersOp::verify() {
  TypeRange stream = getStream().getTypes();
  bool onTensors = !stream.empty() && isa<RankedTensorType>(stream[0]);
  bool alike = llvm::all_of(stream, [&](Type type) {
    return isa<RankedTensorType>(type) == onTensors;
  });
  if (stream.empty() || !alike || (!onTensors && stream.size() % 2)) // C4
    return emitOpError()
           << "stream has " << stream.size()
           << " operands but must have tensors or pairs of memrefs";
  TypeRange yields = onTensors ? stream : TypeRange();
  if (getOperation()->getResultTypes() != yields) // C4
    return emitOpError() << "results are " << getOperation()->getResultTypes()
                         << " but the stream is " << stream;
  for (auto [index, body] : llvm::enumerate(getBodyRegions()))
    if (failed(verifyBody(*this, index, body.front(), stream, yields)))
      return failure();
  return success();
}

LogicalResult LayersOp::verifySymbolUses(SymbolTableCollection &tables) {
  return mille::transformer::verifyColumns( // C5
      cast<LayerStack>(getOperation()), tables);
}

// Verifiers of gradients and of what a layer saves for the loop back, one
// `// Cn` per labelled constraint.
#include "dialects/kernel/Access.h"
#include "dialects/transformer/Symbols.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mille::kernel;

LogicalResult GradientOp::verify() {
  if (shapedOf(getResult()).hasStaticShape() &&
      shapedOf(getResult()).getElementType().isF32()) // C2
    return success();
  return emitOpError() << "is " << getResult().getType()
                       << " but gradients are f32, of a parameter's shape";
}

LogicalResult GradientOp::verifySymbolUses(SymbolTableCollection &tables) {
  return mille::transformer::verifyShapeOf( // C1
      *this, "parameter", getParameterAttr(), shapeOf(getResult()), tables);
}

LogicalResult SaveOp::verify() {
  if (getName().empty()) // C1
    return emitOpError("has an empty name");
  auto loop = (*this)->getParentOfType<LayersOp>();
  if (!loop) // C2
    return emitOpError("is outside of kernel.layers, where values stay");
  ShapedType type = shapedOf(getInput());
  if (!type.hasRank() || type.getRank() != 2 || type.isDynamicDim(1) ||
      !type.isDynamicDim(0) ||
      !(type.getElementType().isF32() || type.getElementType().isBF16())) // C3
    return emitOpError() << "input is " << type
                         << " but must be f32 or bf16 [rows, columns]";
  auto entry = loop->getParentOfType<func::FuncOp>();
  SaveOp other;
  if (entry)
    entry.walk([&](SaveOp op) {
      const bool apart = op->getParentOfType<LayersOp>() == loop &&
                         op->getParentRegion() != (*this)->getParentRegion();
      if (op != *this && op.getName() == getName() && !apart)
        other = op;
    });
  if (!other) // C2
    return success();
  auto error = emitOpError() << "saves \"" << getName() << "\" again";
  error.attachNote(other.getLoc()) << "it is saved here too";
  return error;
}

LogicalResult SavedOp::verify() {
  auto loop = (*this)->getParentOfType<LayersOp>();
  if (!loop) // C3
    return emitOpError("is outside of kernel.layers, where nothing is saved");
  auto entry = loop->getParentOfType<func::FuncOp>();
  SaveOp from;
  LayersOp before;
  if (entry)
    entry.walk([&](SaveOp op) {
      auto source = op->getParentOfType<LayersOp>();
      if (op.getName() != getName() || !source ||
          source->getBlock() != loop->getBlock() ||
          !source->isBeforeInBlock(loop))
        return;
      from = op;
      before = source;
    });
  if (!from) // C1
    return emitOpError() << "reads \"" << getName()
                         << "\" but no loop before it saves that";
  if (before.getBodies().size() != loop.getBodies().size()) { // C1
    auto error = emitOpError()
                 << "is in a loop of " << loop.getBodies().size()
                 << " layers but \"" << getName() << "\" is saved in one of "
                 << before.getBodies().size();
    error.attachNote(from.getLoc()) << "it is saved here";
    return error;
  }
  // Planned, they may have other strides.
  ShapedType saved = shapedOf(from.getInput()), type = shapedOf(getResult());
  if (saved.hasRank() && type.hasRank() &&
      saved.getShape() == type.getShape() &&
      saved.getElementType() == type.getElementType()) // C2
    return success();
  auto error = emitOpError()
               << "is " << type << " but \"" << getName() << "\" is " << saved;
  error.attachNote(from.getLoc()) << "it is saved here";
  return error;
}

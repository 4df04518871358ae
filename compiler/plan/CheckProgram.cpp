// Each refusal names the op, and both numbers.
#include "compiler/plan/CheckProgram.h"
#include "dialects/kernel/RowSpace.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace mille;
using namespace mille::kernel;

LogicalResult mille::plan::checkKept(func::FuncOp forward,
                                     const Signature &signature) {
  WalkResult result = forward.walk([&](KeepOp keep) {
    int64_t number = signature.find(keep.getName());
    const Shape &shape = signature.outputs[number].shape;
    auto rows = rowSpaceOf(keep.getInput());
    auto type = cast<RankedTensorType>(keep.getInput().getType());
    ShapeExtent tokens = rows ? rows->perSequence() : sizes::tokens;
    if (shape.size() == 4 && shape[2] == tokens &&
        shape[3] == type.getShape().back())
      return WalkResult::advance();
    keep.emitOpError() << "writes [batch, " << tokens.text() << ", "
                       << type.getShape().back() << "] but \"" << keep.getName()
                       << "\" is " << extentsText(shape);
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult mille::plan::checkExtents(func::FuncOp forward) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max() - 64; // padding
  constexpr int64_t mostColumns = 1 << 23;
  WalkResult result = forward.walk([&](Operation *op) {
    for (Value value : op->getResults()) {
      auto type = dyn_cast<ShapedType>(value.getType());
      if (!type || !type.hasRank())
        continue;
      int64_t numbers = 1;
      for (int64_t extent : type.getShape()) {
        if (extent > most ||
            llvm::MulOverflow(numbers, std::max<int64_t>(extent, 1), numbers)) {
          op->emitOpError() << "has an extent of " << extent << " in " << type
                            << " but kernels count to " << most;
          return WalkResult::interrupt();
        }
      }
      if (!type.hasStaticShape() && type.getShape().back() > mostColumns) {
        op->emitOpError() << "has rows of " << type.getShape().back()
                          << " numbers in " << type
                          << " but kernels take rows of at most "
                          << mostColumns;
        return WalkResult::interrupt();
      }
      // Matmuls find a place in their weight with 64 bits.
      bool onlyMatmuls = llvm::all_of(value.getUsers(), [](Operation *user) {
        return isa<MatmulOp>(user);
      });
      if (isa<WeightOp>(op) && !onlyMatmuls && numbers > most) {
        op->emitOpError() << "has " << numbers << " numbers in " << type
                          << " but kernels count to " << most;
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

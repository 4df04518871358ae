// Interprets what outlives the ops of a training step: gradients of parameters,
// and values that a layer saves for the loop back.
// Must not know how a gradient is computed.
#include "compiler/interpret/Run.h"

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;

Tensor &Run::gradientOf(FlatSymbolRefAttr name, ArrayRef<int64_t> shape) {
  auto column = dyn_cast_or_null<FlatSymbolRefAttr>(
      layer ? layer->columns.lookup(name.getValue()) : Attribute());
  Tensor &held = gradients[(column ? column : name).getValue().str()];
  if (held.numbers.empty())
    held = zeros(std::vector<int64_t>(shape.begin(), shape.end()));
  return held;
}

void mille::interpreter::setGradient(Run &run, mlir::Value out,
                                     const Tensor &sum) {
  auto gradient = out.getDefiningOp<kernel::GradientOp>();
  if (!gradient)
    return;
  run.gradientOf(gradient.getParameterAttr(), sum.shape) = sum;
  run.set(out, Tensor(sum)); // a loop adds to it again
}

Status mille::interpreter::runOp(Run &run, kernel::GradientOp op) {
  auto type = cast<ShapedType>(op.getResult().getType());
  Tensor held = run.gradientOf(op.getParameterAttr(), type.getShape());
  run.set(op.getResult(), std::move(held));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::SaveOp op) {
  run.savedAs(op.getName()) = run.at(op.getInput());
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::SavedOp op) {
  Tensor held = run.savedAs(op.getName());
  run.set(op.getResult(), std::move(held));
  return Status::done;
}

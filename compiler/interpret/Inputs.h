// The inputs of a run: checked against forward, completed with defaults.
// The words of names and shapes are also for whoever makes inputs.
#pragma once
#include "compiler/interpret/Run.h"

namespace mille::interpreter {

// The name of argument or result `i`, empty where it has none (sizes).
llvm::StringRef inputName(mlir::func::FuncOp forward, unsigned i);
llvm::StringRef outputName(mlir::func::FuncOp forward, unsigned i);

// The shape of argument or result `i`: `transformer.shape` says it, or else the
// type.
Shape inputShape(mlir::func::FuncOp forward, unsigned i);
Shape outputShape(mlir::func::FuncOp forward, unsigned i);
// The same in numbers of this run.
std::vector<int64_t> extentsOf(const Run &run,
                               llvm::ArrayRef<ShapeExtent> shape);

// Sets the arguments of forward, and the sizes and step of the run.
Status bindInputs(Run &run, mlir::func::FuncOp forward, const Values &inputs);

} // namespace mille::interpreter

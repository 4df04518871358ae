// The inputs of a run: checked against forward, completed with defaults.
// Private to this room.
#pragma once
#include "compiler/interpret/Run.h"

namespace mille::interpreter {

// The name of argument or result `i`, empty where it has none (sizes).
llvm::StringRef inputName(mlir::func::FuncOp forward, unsigned i);
llvm::StringRef outputName(mlir::func::FuncOp forward, unsigned i);

// Shape words as in mille_tensor_info: >= 0 fixed, -1 batch, -2 tokens.
std::vector<int64_t> shapeWords(mlir::Type type, mlir::Attribute declared);

// Sets the arguments of forward, and batch, tokens and step of the run.
Status bindInputs(Run &run, mlir::func::FuncOp forward, const Values &inputs);

} // namespace mille::interpreter

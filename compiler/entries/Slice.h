// What an entry's outputs depend on, and an entry of some of them.
// Must not change the entry that it reads.
#pragma once
#include "dialects/transformer/Transformer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace mille::entries {

// Names of a port, "" where it has none.
llvm::StringRef inputName(mlir::func::FuncOp entry, unsigned number);
llvm::StringRef outputName(mlir::func::FuncOp entry, unsigned number);
mlir::Value outputValue(mlir::func::FuncOp entry, unsigned number);

// Whether an op reads of this operand only how large it is.
bool readsSizeOnly(mlir::OpOperand &operand);

// The ops of an entry that outputs need, and the arguments. Values in `given`
// need nothing.
struct Needs {
  llvm::SetVector<mlir::Operation *> ops;
  llvm::SetVector<mlir::Value> arguments;
};
Needs needsOf(llvm::ArrayRef<mlir::Value> outputs,
              llvm::ArrayRef<mlir::Value> given = {});
// The inputs among what an output needs that have no default.
llvm::SmallSetVector<unsigned, 4> requiredInputs(mlir::func::FuncOp entry,
                                                 unsigned output);

// Adds an entry `name` with some of the outputs of `entry`. Where output `cut`
// is not -1, its value is an input of the new entry under the output's name.
mlir::func::FuncOp makeSlice(mlir::func::FuncOp entry, llvm::StringRef name,
                             llvm::ArrayRef<unsigned> outputs,
                             int64_t cut = -1);

} // namespace mille::entries

// Finds what an entry's outputs depend on, and makes an entry for some of them.
// Must not change the entry that it reads.
#pragma once
#include "dialects/transformer/Transformer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace mille::entries {

// The name of an input or output, or "".
llvm::StringRef inputName(mlir::func::FuncOp entry, unsigned number);
llvm::StringRef outputName(mlir::func::FuncOp entry, unsigned number);
mlir::Value outputValue(mlir::func::FuncOp entry, unsigned number);

// Whether an op reads only the size of this operand.
bool readsSizeOnly(mlir::OpOperand &operand);

// The ops and arguments of an entry that outputs depend on. Values in `given`
// depend on nothing.
struct Needs {
  llvm::SetVector<mlir::Operation *> ops;
  llvm::SetVector<mlir::Value> arguments;
};
Needs needsOf(llvm::ArrayRef<mlir::Value> outputs,
              llvm::ArrayRef<mlir::Value> given = {});
// The inputs without a default that an output depends on.
llvm::SmallSetVector<unsigned, 4> requiredInputs(mlir::func::FuncOp entry,
                                                 unsigned output);

// Adds an entry `name` with some of the outputs of `entry`. If `cut` is not -1,
// the value of that output becomes an input of the new entry, with the output's
// name.
mlir::func::FuncOp makeSlice(mlir::func::FuncOp entry, llvm::StringRef name,
                             llvm::ArrayRef<unsigned> outputs,
                             int64_t cut = -1);

} // namespace mille::entries

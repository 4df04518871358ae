// Tells the operands of a kernel op that its kernel sees from those that only
// the runtime sees.
// Must not emit code.
#pragma once
#include "compiler/lower/AbiTypes.h"
#include "dialects/kernel/Kernel.h"

namespace mille::lower {

bool isMemref(mlir::Value value);
// The kernels of one launch: those of a `launch`, or a single op.
llvm::SmallVector<mlir::Operation *> kernelsOf(mlir::Operation &op);
// The rows of the out in one sequence; null where a kernel works on rows.
mlir::Value sequenceRows(mlir::Operation *kernel);
// Where the rows of experts begin, and how many experts there are.
mlir::Value startsOf(mlir::Operation *kernel);
int64_t entriesOf(mlir::Value starts);
// The weights that a kernel has for its experts or heads; 0: it has one.
int64_t stackOf(mlir::Operation *kernel);
// How many tokens of each sequence its state holds; null: no state.
mlir::Value pastOf(mlir::Operation *kernel);
// Whether an operand of a matmul has an entry for each expert.
bool isStacked(mlir::OpOperand &operand);
// Whether a kernel sees an operand: what is the runtime's alone is no buffer.
bool isBuffer(mlir::OpOperand &operand);
// (columns of a head, heads) of an out that is split into heads.
std::pair<int64_t, int64_t> headsOf(mlir::OpOperand &operand);
// The constant that describes the buffer of an operand.
std::string shapeOf(mlir::OpOperand &operand, const AbiTypes &types,
                    ConstantPool &constants);
// From one row of a buffer to the next.
int64_t bytesOfRow(mlir::Value buffer);
mlir::Value outOf(mlir::Operation *kernel);
bool hasRowPerToken(mlir::Value buffer);

} // namespace mille::lower

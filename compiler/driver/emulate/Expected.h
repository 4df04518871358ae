// What a kernel op computes, in double, by the interpreter's parts. Must not
// use anything that generators use but the spec.
#pragma once
#include "compiler/driver/emulate/Operands.h"
#include "mlir/IR/Operation.h"

namespace mille::emulated {

// The operands of the op in the order of its calling convention, drawn for
// these sizes, the outs last. Empty, with a sentence in `problem`, for an op
// that has no meaning here.
std::vector<Operand> operandsOf(mlir::Operation *op, const KernelSpec &spec,
                                const Sizes &sizes, std::string &problem);

// What the kernel writes, in that order.
std::vector<BufferSpec> outsOf(const KernelSpec &spec);

// Where the rows of each expert begin: some have none.
std::vector<int64_t> startsOf(const MatmulSpec &matmul, int64_t rows);

// Fills the outs.
void compute(mlir::Operation *op, const KernelSpec &spec, const Sizes &sizes,
             std::vector<Operand> &operands);

} // namespace mille::emulated

// What attention computes, and how large its terms are.
#pragma once
#include "compiler/driver/emulate/Operands.h"
#include "mlir/IR/Operation.h"

namespace mille::emulated {

// The keys of a sequence: of a state those that it holds, with the run's.
int64_t keysOf(const AttentionSpec &a, const Sizes &sizes, int64_t sequence);

// Fills the out, which is the last operand. Queries and keys that are turned
// are rounded to their type, as where another kernel turns them before.
void computeAttention(mlir::Operation *op, const AttentionSpec &a,
                      const Sizes &sizes, std::vector<Operand> &operands);

} // namespace mille::emulated

// Which columns of its input kernel.remember remembers: all, or those behind
// the attribute kernel.from. Must not know who wants that.
#pragma once
#include "dialects/kernel/Kernel.h"

namespace mille::kernel {

constexpr llvm::StringLiteral fromName = "kernel.from";

// The first column; 0 without the attribute.
int64_t fromOf(RememberOp op);
void setFrom(RememberOp op, int64_t column); // > 0
// The number of columns, without those of steps.
int64_t rememberedColumns(RememberOp op);

} // namespace mille::kernel

// The pass of lower, which describes kernels by their operands alone.
// Must not generate kernels.
#pragma once
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mille::lower {

#define GEN_PASS_DECL
#include "compiler/lower/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/lower/Passes.h.inc"

} // namespace mille::lower

// Plan: elements, layouts of weights, places of buffers.
#pragma once
#include "dialects/kernel/Kernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mille::plan {

#define GEN_PASS_DECL
#include "compiler/plan/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/plan/Passes.h.inc"

} // namespace mille::plan

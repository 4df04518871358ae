// The passes of plan: element types, layouts of weights, places of buffers.
// Must not know how kernels are generated.
#pragma once
#include "compiler/kernels/Panels.h"
#include "dialects/kernel/Kernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mille::plan {

#define GEN_PASS_DECL
#include "compiler/plan/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/plan/Passes.h.inc"

} // namespace mille::plan

namespace mille {

// The options of the stage `plan`.
struct PlanChoices {
  std::string dtype = "f32"; // bf16, int8, q8_0, stored, ...
  PanelWidths panels;        // that the package's kernels read
  bool turnFirst = false;    // RoPE by launches of its own
};
void addPlanPipeline(mlir::OpPassManager &pipeline, const PlanChoices &choices);

} // namespace mille

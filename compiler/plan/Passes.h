// The passes of plan: element types, layouts of weights, places of buffers.
// Must not know how kernels are generated.
#pragma once
#include "compiler/kernels/Panels.h"
#include "dialects/kernel/Kernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mille::plan {

using Joins = std::function<bool(mlir::Operation *leader)>;
std::unique_ptr<mlir::Pass> createJoinKernels(Joins joins);

#define GEN_PASS_DECL
#include "compiler/plan/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/plan/Passes.h.inc"

} // namespace mille::plan

namespace mille {

// The options of the stage `plan`.
struct PlanChoices {
  std::string dtype = "f32"; // bf16, int8, fp8, q8_0, stored, ...
  std::string cache;         // of keys and values: int8, f16, or as dtype says
  PanelWidths panels;        // that the package's kernels read
  bool turnFirst = false;    // RoPE by launches of its own
  // Whether all generators make the kernel of an op with its joined rows. Null:
  // no rows are joined.
  plan::Joins joins = nullptr;
};
void addPlanPipeline(mlir::OpPassManager &pipeline, const PlanChoices &choices);

} // namespace mille

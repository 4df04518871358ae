// The passes of plan: element types, layouts of weights, places of buffers.
// Must not know how kernels are generated.
#pragma once
#include "dialects/kernel/Kernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mille::plan {

// The columns of a panel, for a weight of `columns` rows that a matmul of
// `accumulators` reads; `forDevices`: a device reads the weight too.
int64_t panelOf(int64_t columns, int64_t accumulators, bool forDevices = false);

#define GEN_PASS_DECL
#include "compiler/plan/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/plan/Passes.h.inc"

} // namespace mille::plan

namespace mille {

// The options of the stage `plan`.
struct PlanChoices {
  std::string dtype = "f32"; // or bf16, int8
  bool forDevices = false;   // a device reads the weights too
};
void addPlanPipeline(mlir::OpPassManager &pipeline, const PlanChoices &choices);

} // namespace mille

// Plan: elements, layouts of weights, places of buffers.
#pragma once
#include "dialects/kernel/Kernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mille::plan {

// How many columns a panel has of a weight of `columns` rows, for a matmul of
// so many accumulators; `forDevices`: a device reads it too.
int64_t panelOf(int64_t columns, int64_t accumulators, bool forDevices = false);

#define GEN_PASS_DECL
#include "compiler/plan/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/plan/Passes.h.inc"

} // namespace mille::plan

namespace mille {

// What a caller chooses of the stage `plan`.
struct PlanChoices {
  std::string dtype = "f32"; // or bf16, int8
  bool forDevices = false;   // a device reads the weights too
};
void addPlanPipeline(mlir::OpPassManager &pipeline, const PlanChoices &choices);

} // namespace mille

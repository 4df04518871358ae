// The stage `plan`: its passes in order. Must not decide anything itself.
#include "compiler/plan/Passes.h"
#include "mlir/Pass/PassManager.h"

void mille::addPlanPipeline(mlir::OpPassManager &pipeline,
                            const PlanChoices &choices) {
  pipeline.addPass(plan::createFindPadding());
  if (choices.dtype != "f32")
    pipeline.addPass(plan::createNarrowTypes({choices.dtype}));
  pipeline.addPass(plan::createPackWeights({choices.forDevices}));
  pipeline.addPass(plan::createPlanMemory());
}

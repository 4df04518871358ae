// The stage `plan`: its passes in order. Must not decide anything itself.
#include "compiler/plan/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SmallVector.h"

void mille::addPlanPipeline(mlir::OpPassManager &pipeline,
                            const PlanChoices &choices) {
  pipeline.addPass(plan::createFindPadding());
  pipeline.addPass(plan::createNarrowTypes({choices.dtype, choices.cache}));
  if (choices.turnFirst)
    pipeline.addPass(plan::createTurnHeadsFirst());
  if (choices.joins)
    pipeline.addPass(plan::createCarryCopies());
  pipeline.addPass(plan::createLayOutStates({choices.cache}));
  plan::PackWeightsOptions widths;
  widths.widths = llvm::to_vector(choices.panels.ofOne);
  widths.ofMore = llvm::to_vector(choices.panels.ofMore);
  widths.inRows = choices.panels.inRows;
  pipeline.addPass(plan::createPackWeights(widths));
  pipeline.addPass(plan::createBlockLoss());
  pipeline.addPass(plan::createPlanMemory());
  if (choices.joins)
    pipeline.addPass(plan::createJoinKernels(choices.joins));
}

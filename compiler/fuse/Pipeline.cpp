// The stages of this room as pipelines: which pass runs when.
// Must not hold a rewrite.
#include "compiler/fuse/Passes.h"

using namespace mlir;

void mille::addRollPipeline(OpPassManager &pipeline) {
  pipeline.addNestedPass<transformer::ModelOp>(createRoll());
}

void mille::addFusePipeline(OpPassManager &pipeline) {
  OpPassManager &model = pipeline.nest<transformer::ModelOp>();
  model.addPass(createConvertToKernel());
}

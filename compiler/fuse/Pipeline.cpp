// The stages of this room as pipelines: which pass runs when.
// Must not hold a rewrite.
#include "compiler/fuse/Passes.h"

using namespace mlir;

void mille::addRollPipeline(OpPassManager &pipeline, bool byEncoding) {
  pipeline.addNestedPass<transformer::ModelOp>(createRoll({byEncoding}));
}

void mille::addFusePipeline(OpPassManager &pipeline) {
  OpPassManager &model = pipeline.nest<transformer::ModelOp>();
  model.addPass(createConvertToKernel());    // one kernel op per transformer op
  model.addPass(createFuseBiasActivation()); // projections are one matmul each
  model.addPass(createFuseQkv());
  model.addPass(
      createFuseGateUp()); // what two matmuls feed is a sum from here on
  model.addPass(createFuseResidual()); // a sum is written once
  model.addPass(createCarryNorm());    // a norm is in the body of its sum
  model.addPass(createFuseAddNorm());
  model.addPass(createFuseEmbedNorm());
  model.addPass(createFuseSoftmaxScale());
  model.addPass(createFuseRope());
  model.addPass(createFuseUpdate()); // a layer's gradients need not outlive it
}

void mille::registerFusePipelines() {
  PassPipelineRegistration<>("fuse", "the stage `fuse`", addFusePipeline);
}

// Passes from unrolled transformer ops to fused kernel ops, and their pipeline.
// Must not know targets, tiles or where a model came from.
#pragma once
#include "dialects/kernel/Kernel.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include <memory>

namespace mille {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/fuse/Passes.h.inc"

// The stages `roll` and `fuse` of the staircase; `pipeline` is anchored on
// builtin.module. After the first, layers are bodies and a table; after the
// second, every op of a forward is a kernel op and `kernel.fusions` is written.
// `byEncoding`: bodies' weights keep the blocks that they are stored in.
void addRollPipeline(mlir::OpPassManager &pipeline, bool byEncoding = false);
void addFusePipeline(mlir::OpPassManager &pipeline);

// `mille-opt --fuse`: the second stage by name.
void registerFusePipelines();

} // namespace mille

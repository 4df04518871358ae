// The pass that makes a training step of an entry, and the adjoints of ops.
// Must not know kernels.
#pragma once
#include "dialects/transformer/Transformer.h"
#include "mlir/Pass/Pass.h"

namespace mille::differentiate {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/differentiate/Passes.h.inc"

// Gives the ops of the `transformer` dialect their adjoints (DifferentiableOp).
void registerAdjoints(mlir::DialectRegistry &registry);

// Whether the pass's option `recompute` takes that word.
bool isRecompute(llvm::StringRef word);

} // namespace mille::differentiate

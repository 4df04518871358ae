// Where a training step drops numbers. Must not know which.
#pragma once
#include "dialects/transformer/Transformer.h"

namespace mille::differentiate {

// Drops numbers of what embeddings and the branches of residual units give: of
// the norm of an embedding where one follows it.
void addDropout(mlir::func::FuncOp step, double rate, mlir::Value stepNumber,
                mlir::Value firstSequence);

} // namespace mille::differentiate

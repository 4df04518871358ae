// Builds one unrolled transformer.model from a ModelSpec. The ops of import are
// made here only.
#pragma once
#include "compiler/import/WeightSource.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mille::import {

struct BuildOptions {
  bool hiddenStates = false;
  bool withoutWeights = false; // say so on the model
};

// If a weight is missing, its parameter is left out. `weights` has then
// reported an error, and the caller drops the module.
mlir::OwningOpRef<mlir::ModuleOp> build(const ModelSpec &spec,
                                        WeightSource &weights,
                                        const BuildOptions &options,
                                        mlir::MLIRContext &context);

} // namespace mille::import

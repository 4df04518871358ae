// A ModelSpec becomes one unrolled transformer.model: the only place in import
// that makes ops.
#pragma once
#include "compiler/import/WeightSource.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mille::import {

struct BuildOptions {
  bool hiddenStates = false;
  bool withoutWeights = false; // say so on the model
};

// Where a weight is missing its parameter is left out: the caller has the
// errors of `weights` and throws the module away.
mlir::OwningOpRef<mlir::ModuleOp> build(const ModelSpec &spec,
                                        WeightSource &weights,
                                        const BuildOptions &options,
                                        mlir::MLIRContext &context);

} // namespace mille::import

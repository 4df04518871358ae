// The entries of a package that trains, in place of the model's own. Must not
// know how a step is differentiated.
#pragma once
#include "compiler/driver/Compile.h"
#include "compiler/plan/Passes.h"
#include "mlir/IR/BuiltinOps.h"

namespace mille {

// Makes `train_step` and `eval` of the first entry of a rolled model.
// recompute: as the pass differentiate takes it.
mlir::LogicalResult makeTrainStep(mlir::ModuleOp module,
                                  const std::string &recompute);
// Refuses a model that is rolled already, unless it has a step.
Status checkTrainStep(mlir::ModuleOp given);

// What a step computes anew: as the request says, or the word with the least
// work whose plan fits the request's memory; an error where none does.
Status chooseRecompute(mlir::ModuleOp rolled, const CompileRequest &request,
                       const PlanChoices &choices, std::string &recompute);

} // namespace mille

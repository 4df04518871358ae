// `mille verify --train`: the gradients of a compiled step against those of the
// reference.
#pragma once
#include "compiler/driver/Options.h"
#include "compiler/driver/commands/VerifyReport.h"
#include "mlir/IR/MLIRContext.h"

namespace mille {

Status verifyTraining(const VerifyOptions &options, mlir::MLIRContext &context,
                      VerifyReport &report);

} // namespace mille

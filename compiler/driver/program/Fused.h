// Reads the fusion report, which is the func attribute kernel.fusions.
// Must not decide what to fuse.
#pragma once
#include "compiler/Status.h"
#include "mlir/IR/Operation.h"

#include <string>
#include <vector>

namespace mille {

// Emits an error for each of `boundaries` that some unit did not fuse, with the
// unit, its layers and the reason.
Status requireFused(mlir::Operation *model,
                    const std::vector<std::string> &boundaries);

} // namespace mille

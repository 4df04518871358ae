// What fuse says it did: the func attribute kernel.fusions, read.
// Must not decide what to fuse.
#pragma once
#include "compiler/Status.h"
#include "mlir/IR/Operation.h"

#include <string>
#include <vector>

namespace mille {

// An error, naming unit, layers and reason, for each of `boundaries` that some
// unit did not fuse.
Status requireFused(mlir::Operation *model,
                    const std::vector<std::string> &boundaries);

} // namespace mille

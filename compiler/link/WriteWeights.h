// Writes NAME.weights, tensor by tensor, and the same bytes as an object for
// packages with embedded weights. Must not hold all weights in memory.
#pragma once
#include "compiler/link/Link.h"
#include "compiler/link/Staging.h"

namespace mille::link {

// Writes the staged file, and its size and hash to `facts`: of a model without
// weights only the size that they would have.
Status writeWeights(const LinkInput &input, Staging &staging,
                    llvm::StringRef file, PackageFacts &facts);

// Writes an object with the bytes of `source` as NAME_weights_data, in a
// section for large data. It copies piece by piece.
bool writeWeightsObject(Staging &staging, llvm::StringRef source,
                        llvm::StringRef target, llvm::StringRef name);

} // namespace mille::link

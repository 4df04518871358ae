// NAME.weights: the table and the tensors, one at a time. And the same bytes as
// an object, for packages that carry their weights in the code.
#pragma once
#include "compiler/link/Link.h"
#include "compiler/link/Staging.h"

namespace mille::link {

// Writes the staged file; its size and hash go to `facts`.
Status writeWeights(const LinkInput &input, Staging &staging,
                    llvm::StringRef file, PackageFacts &facts);

// An object with the bytes of `source` as NAME_weights_data, in a section of
// its own for large data. Copies by pieces: memory stays small.
bool writeWeightsObject(Staging &staging, llvm::StringRef source,
                        llvm::StringRef target, llvm::StringRef name);

} // namespace mille::link

// Further entries of a model, made of `forward` alone: an encoder and its
// decoder, towers, a decoder that remembers. Must not know a family.
#pragma once
#include "compiler/Status.h"
#include "mlir/IR/Operation.h"

#include <string>

namespace mille {

// Adds the entries of these names to the transformer.model `model`, which is
// unrolled and whose first entry they are made of; "all": all that can be made
// of it. One that the model has already stays as it is. An error says which
// entries it can have.
Status deriveEntries(mlir::Operation *model,
                     llvm::ArrayRef<std::string> wanted);

} // namespace mille

// Derives further entries of a model from `forward`: an encoder and its
// decoder, towers, a decoder with states. Must not know a family.
#pragma once
#include "compiler/Status.h"
#include "mlir/IR/Operation.h"

#include <string>

namespace mille {

// Adds the entries with these names to the transformer.model `model`, which
// must be unrolled; they are derived from its first entry. "all" adds every
// possible one. An entry that the model has already is left as it is. An error
// lists the possible entries. `latent`: states hold the few channels that keys
// and values are made of, where these are fewer.
Status deriveEntries(mlir::Operation *model, llvm::ArrayRef<std::string> wanted,
                     bool latent);

} // namespace mille

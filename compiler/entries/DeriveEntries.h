// Derives further entries of a model from `forward`: an encoder and its
// decoder, towers, a decoder with states. Must not know a family.
#pragma once
#include "compiler/Status.h"
#include "mlir/IR/Operation.h"

#include <string>

namespace mille {

// What states hold where keys and values are made of few channels.
enum class LatentRows {
  none,  // keys and values
  apart, // those channels of each
  one,   // the keys' alone, of which the values' are the first
};

// Adds the entries with these names to the transformer.model `model`, which
// must be unrolled; they are derived from its first entry. "all" adds every
// possible one. An entry that the model has already is left as it is. An error
// lists the possible entries. `latent`: what states hold where that is less.
Status deriveEntries(mlir::Operation *model, llvm::ArrayRef<std::string> wanted,
                     LatentRows latent);

} // namespace mille

// Which tokens `mille train --mask` hides: the shares of the command line, ids
// of the package's tokenizer. Must not draw: the package's runtime does.
#pragma once
#include "compiler/driver/train/TrainOptions.h"
#include "compiler/driver/train/TrainedPackage.h"

namespace mille {

struct Masks {
  mille_masking how = {};
  std::vector<int32_t> never; // sorted, each once
  const LibraryFunctions *api = nullptr;

  // Fails, with an error, where nothing says the mask's id, or the model has
  // not that id.
  static Status open(const MaskOptions &options, const TrainedPackage &trained,
                     mlir::MLIRContext &context, Masks &masks);

  // Says how tokens are hidden, for the note in a checkpoint.
  std::string text() const;
};

// Names the masks of a sequence, beside its number in the data.
struct MaskKey {
  uint64_t seed = 0, epoch = 0;
};
// No epoch of a training: an evaluation always has the same masks.
constexpr MaskKey evaluationKey = {0, UINT32_MAX};

} // namespace mille

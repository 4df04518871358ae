// What a training has cost, and how long each layer's gradient is, as text.
#pragma once
#include "loader/Library.h"
#include "llvm/Support/raw_ostream.h"

namespace mille {

// False: the package's runtime is of an earlier build, which reports nothing.
bool writeTrainReport(const LibraryFunctions &api, mille_trainer *trainer,
                      llvm::raw_ostream &out);

} // namespace mille

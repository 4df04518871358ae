// NAME.json: what a package holds, for people and tools.
// Must not hold anything that differs between two compiles of the same model.
#pragma once
#include "compiler/driver/Kernels.h"
#include "compiler/link/Link.h"

namespace mille {

struct ManifestInput {
  std::string name, path, folder, hash; // of the model
  mlir::Operation *model;               // planned
  llvm::ArrayRef<Isa> isas;
  llvm::ArrayRef<DistinctKernel> kernels;
  bool hiddenStates, embedWeights;
};

std::string writeManifest(const ManifestInput &input,
                          const PackageFacts &facts);

} // namespace mille

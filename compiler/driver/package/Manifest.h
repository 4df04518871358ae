// Writes NAME.json: the contents of a package, for people and tools.
// Must not write anything that differs between two compiles of the same model,
// except for tiles that were measured.
#pragma once
#include "compiler/driver/ModelTokens.h"
#include "compiler/driver/package/GenerationRules.h"
#include "compiler/driver/program/Certificate.h"
#include "compiler/driver/program/Kernels.h"
#include "compiler/driver/program/Traffic.h"
#include "compiler/link/Link.h"

namespace mille {

struct ManifestInput {
  std::string name, path, folder, hash; // of the model
  mlir::Operation *model = nullptr;     // the planned program
  int64_t parameters = 0;               // the imported model's count
  Certificate certificate;
  Traffic traffic;
  std::optional<Traffic> unscaled; // of the model without constant scales
  llvm::ArrayRef<Target> isas;
  llvm::ArrayRef<DistinctKernel> kernels;
  TileRanks tiles;
  std::string dtype, cache, calibrate;
  bool hiddenStates = false, embedWeights = false;
  std::optional<GenerationRules> generation;
  ModelTokens tokens;
};

// The number of elements of all parameters of a model.
int64_t countParameters(mlir::Operation *model);

std::string writeManifest(const ManifestInput &input,
                          const PackageFacts &facts);

} // namespace mille

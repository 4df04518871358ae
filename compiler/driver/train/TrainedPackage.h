// A package that trains, opened for it: the one given, or one that is compiled
// of the model given. Must not run anything.
#pragma once
#include "compiler/driver/Scratch.h"
#include "compiler/driver/package/Compiled.h"

namespace mille {

struct TrainedPackage {
  // recompute: of a model; "": the default.
  Status open(const std::string &subject, const std::string &recompute,
              mlir::MLIRContext &context);

  // The inputs of the entry train_step.
  std::vector<mille_tensor> inputs() const;
  const LibraryFunctions &functions() const { return code->functions(); }

  Scratch scratch;
  Package package;
  std::unique_ptr<Compiled> code;
};

} // namespace mille

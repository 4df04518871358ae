// A package that trains, opened for it: the one given, or one that is compiled
// of the model given. Must not run anything.
#pragma once
#include "compiler/driver/Compile.h"
#include "compiler/driver/Scratch.h"
#include "compiler/driver/package/Compiled.h"

namespace mille {

// Words of mille compile for a model; "": the default.
struct TrainedAs {
  std::string recompute, dtype;
  MemoryLimit memory;
};

struct TrainedPackage {
  Status open(const std::string &subject, const TrainedAs &as,
              mlir::MLIRContext &context);

  // The inputs of the entry train_step.
  std::vector<mille_tensor> inputs() const;
  const LibraryFunctions &functions() const { return code->functions(); }

  // What the step of a model that was compiled computes anew, and where memory
  // is limited the bytes that it was chosen by.
  std::string recompute;
  int64_t planned = 0;
  Scratch scratch;
  Package package;
  std::unique_ptr<Compiled> code;
};

} // namespace mille

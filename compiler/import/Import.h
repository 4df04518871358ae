// Imports a Hugging Face folder, a GGUF file, a native spec or `.mlir` as one
// unrolled transformer.model. Must read the shapes of weights only, not their
// numbers.
#pragma once
#include "compiler/Status.h"
#include "compiler/import/ImageSize.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>
#include <vector>

namespace mille {

struct ImportOptions {
  bool hiddenStates = false; // keep the points of the residual stream
  std::string name;          // of the model op; empty: made from the path
  // "": the model's own; else a file, "none" or "random:SEED"
  std::string weights;
  // In place of `weights`: draws them by a scheme, named as in the table (""
  // for the model's own scheme), from a seed (absent: the model's own).
  struct Making {
    std::string scheme;
    std::optional<uint64_t> seed;
  };
  std::optional<Making> making;
  // Replaces the configuration's image_size.
  std::optional<ImageSize> imageSize;
  // The same, but only if the model's parameters fit images of any size.
  std::optional<ImageSize> imageSizeAtHand;
  // Each run chooses the size, up to `mostImageSize` where that is given.
  bool anyImageSize = false;
  std::optional<ImageSize> mostImageSize;
};

namespace import {
struct MadeWeight;
}

struct Imported {
  mlir::OwningOpRef<mlir::ModuleOp> module; // holds one transformer.model
  std::string folder;                       // where its stored tensors are
  // If weights were drawn: the tensors as files of the model hold them, and the
  // scheme.
  std::vector<import::MadeWeight> made;
  std::string scheme;
  uint64_t seed = 0;

  Imported();
  Imported(Imported &&);
  ~Imported();
};

// Errors are MLIR diagnostics at the file:line:col of the JSON key. Notes name
// unknown keys and extra tensors.
Status importModel(llvm::StringRef path, const ImportOptions &options,
                   mlir::MLIRContext &context, Imported &imported);

} // namespace mille

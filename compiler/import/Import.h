// Import: a Hugging Face folder, a native spec or `.mlir` becomes one
// transformer.model, unrolled. Reads shapes of weights, never their numbers.
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
  std::string name;          // of the model op; empty: from the path
  // "": the model's own; a file; "none"; "random:SEED"
  std::string weights;
  // Weights by a scheme: a name of the table, "" for the model's own; the seed,
  // none for the model's own. In place of `weights`.
  struct Making {
    std::string scheme;
    std::optional<uint64_t> seed;
  };
  std::optional<Making> making;
  // In place of the configuration's image_size.
  std::optional<ImageSize> imageSize;
  // The same where the model's parameters fit images of any size.
  std::optional<ImageSize> imageSizeAtHand;
};

namespace import {
struct MadeWeight;
}

struct Imported {
  mlir::OwningOpRef<mlir::ModuleOp> module; // holds one transformer.model
  std::string folder;                       // where its stored tensors are
  // Where weights were made: as files of the model hold them, and by what.
  std::vector<import::MadeWeight> made;
  std::string scheme;
  uint64_t seed = 0;

  Imported();
  Imported(Imported &&);
  ~Imported();
};

// Errors are MLIR diagnostics at file:line:col of the JSON key. Notes name keys
// never seen before and extra tensors.
Status importModel(llvm::StringRef path, const ImportOptions &options,
                   mlir::MLIRContext &context, Imported &imported);

} // namespace mille

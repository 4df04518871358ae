// Import: a Hugging Face folder, a native spec or `.mlir` becomes one
// transformer.model, unrolled. Reads shapes of weights, never their numbers.
#pragma once
#include "compiler/Status.h"
#include "compiler/import/ImageSize.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>

namespace mille {

struct ImportOptions {
  bool hiddenStates = false; // keep the points of the residual stream
  std::string name;          // of the model op; empty: from the path
  // "": the model's own; a file; "none"; "random:SEED"
  std::string weights;
  // In place of the configuration's image_size.
  std::optional<ImageSize> imageSize;
  // The same where the model's parameters fit images of any size.
  std::optional<ImageSize> imageSizeAtHand;
};

struct Imported {
  mlir::OwningOpRef<mlir::ModuleOp> module; // holds one transformer.model
  std::string folder;                       // where its stored tensors are
};

// Errors are MLIR diagnostics at file:line:col of the JSON key. Notes name keys
// never seen before and extra tensors.
Status importModel(llvm::StringRef path, const ImportOptions &options,
                   mlir::MLIRContext &context, Imported &imported);

} // namespace mille

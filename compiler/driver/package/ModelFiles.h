// Hashes the contents of all files that a model was read from.
// Must not know their formats.
#pragma once
#include "compiler/Status.h"
#include "mlir/IR/Operation.h"

#include <string>

namespace mille {

// A hash of 16 hexadecimal digits over the names and bytes of the model's
// files: the description (`path` itself, or config.json if `path` is a folder)
// and every file with stored tensors. A missing file counts as absent.
std::string hashModel(llvm::StringRef path, llvm::StringRef folder,
                      mlir::Operation *model);

} // namespace mille

// Which files a model was read from, and a hash of what is in them.
// Must not know their formats.
#pragma once
#include "compiler/Status.h"
#include "mlir/IR/Operation.h"

#include <string>

namespace mille {

// 16 hexadecimal digits over the names and bytes of the description (of `path`:
// the file, or config.json in the folder) and of every stored tensor's file.
// Files that are not there count as absent.
std::string hashModel(llvm::StringRef path, llvm::StringRef folder,
                      mlir::Operation *model);

// The same of `text` and of the bytes of a file, or of the names and bytes of
// every file in a folder, but not in folders of it.
std::string hashOfBytes(llvm::StringRef path, llvm::StringRef text);

} // namespace mille

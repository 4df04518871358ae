// The package of a model, compiled into the cache where it is not there yet.
// Must not be used for a package that the user has a name for.
#pragma once
#include "compiler/Status.h"
#include "compiler/driver/package/Package.h"

namespace mille {

// Finds a package, or compiles a model for this machine. A model is a GGUF file
// or a Hugging Face folder: the hash of its bytes, the type, the entries, the
// machine's instruction set and the build of this program name a folder in
// $XDG_CACHE_HOME/mille/packages (or ~/.cache). dtype: of a model; "": f32.
Status packageOf(const std::string &subject, const std::string &dtype,
                 llvm::ArrayRef<std::string> entries,
                 mlir::MLIRContext &context, Package &package);

} // namespace mille

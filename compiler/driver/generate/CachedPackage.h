// Finds the package of a model in the cache, or compiles it there.
// Must not be used for a package that the user has a name for.
#pragma once
#include "compiler/Status.h"
#include "compiler/driver/Options.h"
#include "compiler/driver/package/Package.h"

namespace mille {

// Opens `path` if it is a package. A model (a GGUF file or a Hugging Face
// folder) is compiled for this machine into a folder of
// $XDG_CACHE_HOME/mille/packages (or ~/.cache), unless it is there already. The
// folder's name depends on the model's bytes, the entries, the instruction set,
// this build, and of `how`: dtype ("": the blocks that it stores, else f32),
// cache, calibrate and target ("": this machine), which a package disregards.
Status packageOf(const std::string &subject, const GenerateOptions &how,
                 llvm::ArrayRef<std::string> entries,
                 mlir::MLIRContext &context, Package &package);

} // namespace mille

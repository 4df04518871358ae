// Makes NAME.tokens from a model's tokenizer, which lies beside the model or in
// its GGUF file. Must not know how a text becomes ids.
#pragma once
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mille {

// The bytes of NAME.tokens. They come from the keys of `model` if that is a
// GGUF, else from the tokenizer.json in `folder`; without a tokenizer there are
// none. A tokenizer that is not supported gives a warning with the reason, and
// the model still compiles.
std::string tokensOfModel(llvm::StringRef model, llvm::StringRef folder,
                          mlir::MLIRContext &context);

} // namespace mille

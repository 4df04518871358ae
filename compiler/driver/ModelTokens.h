// NAME.tokens of a model that is compiled: the tokenizer beside it, or in its
// file. Must not know how a text becomes ids.
#pragma once
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mille {

// The bytes of NAME.tokens. They are made of the keys of `model` where that is
// a GGUF, else of the tokenizer.json in `folder`; there are none where there is
// no tokenizer. One that is not supported is no reason to refuse the model: a
// warning says why.
std::string tokensOfModel(llvm::StringRef model, llvm::StringRef folder,
                          mlir::MLIRContext &context);

} // namespace mille

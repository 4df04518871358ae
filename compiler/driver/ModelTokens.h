// Makes NAME.tokens from a model's tokenizer, which lies beside the model or in
// its GGUF file. Must not know how a text becomes ids.
#pragma once
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mille {

struct ModelTokens {
  std::string bytes; // of NAME.tokens; empty: there is no such file
  // The hash of the tokenizer.json that they were made of, by which who reads
  // both knows that they agree. Empty where they do not say all that it says of
  // one text: its tokens have types.
  std::string sourceHash;
};

// NAME.tokens. It comes from the keys of `model` if that is a GGUF, else from
// the tokenizer.json in `folder`; without a tokenizer there is none. One that
// is not supported gives a warning with the reason, and the model compiles.
ModelTokens tokensOfModel(llvm::StringRef model, llvm::StringRef folder,
                          mlir::MLIRContext &context);

} // namespace mille

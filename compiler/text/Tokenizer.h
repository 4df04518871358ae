// A tokenizer of Hugging Face's as a vocabulary: tokenizer.json, and beside it
// tokenizer_config.json and chat_template.jinja. Must not write a file.
#pragma once
#include "compiler/Status.h"
#include "compiler/text/Vocabulary.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace mille {

// tokenizer.json of `folder`, or nothing where there is none.
std::optional<std::string> tokenizerIn(llvm::StringRef folder);

// Reads the file, and what stands beside it. What is not supported is an error
// at its line and column that names it and what is supported.
Status readTokenizer(llvm::StringRef path, mlir::MLIRContext &context,
                     Vocabulary &vocabulary);

// The bytes of NAME.tokens, opened once: what they would be refused for is an
// error in `path`.
Status makeTokens(const Vocabulary &vocabulary, llvm::StringRef path,
                  mlir::MLIRContext &context, std::string &bytes);

} // namespace mille

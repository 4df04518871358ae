// Turns the prompt of a command line into ids. Must not run a model.
#pragma once
#include "compiler/driver/Options.h"
#include "compiler/driver/package/PackageText.h"

namespace mille {

// A message of a conversation.
struct Turn {
  std::string role, content;
};

// The ids of a conversation, up to the place where the model's answer begins,
// in the format of the tokenizer's chat template. path: the file that errors
// name.
Status conversationIds(llvm::ArrayRef<Turn> turns, const mille_text *text,
                       llvm::StringRef path, mlir::MLIRContext &context,
                       std::vector<int32_t> &ids);

// The ids of --prompt, --messages or --ids; at least one. text: null if the
// options need no tokenizer.
Status promptIds(const GenerateOptions &options, const mille_text *text,
                 mlir::MLIRContext &context, std::vector<int32_t> &ids);

} // namespace mille

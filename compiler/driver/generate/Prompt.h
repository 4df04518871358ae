// What a model is asked to continue, as ids. Must not run a model.
#pragma once
#include "compiler/driver/Options.h"
#include "compiler/driver/package/PackageText.h"

namespace mille {

// What somebody said in a conversation.
struct Turn {
  std::string role, content;
};

// The ids of a conversation, up to where the model answers, in the format that
// the text's chat template says. path: in whose name errors are said.
Status conversationIds(llvm::ArrayRef<Turn> turns, const mille_text *text,
                       llvm::StringRef path, mlir::MLIRContext &context,
                       std::vector<int32_t> &ids);

// The ids of --prompt, --messages or --ids; at least one. text: null where the
// options need none.
Status promptIds(const GenerateOptions &options, const mille_text *text,
                 mlir::MLIRContext &context, std::vector<int32_t> &ids);

} // namespace mille

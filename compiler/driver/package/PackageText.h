// Opens and calls the tokenizer of a package. Must not know how a text becomes
// ids.
#pragma once
#include "compiler/driver/package/Package.h"
#include "text/mille_text.h"

#include <memory>

namespace mille {

using OpenText = std::unique_ptr<mille_text, void (*)(mille_text *)>;

// Turns the status of a call of the text library into an error in `path`,
// unless the call succeeded.
Status judgeText(mille_text_status status, llvm::StringRef path,
                 mlir::MLIRContext &context);

// Opens NAME.tokens. It is an error if the package has none.
Status openText(const Package &package, mlir::MLIRContext &context,
                OpenText &text);

// The ids of `bytes`. flags: those of mille_text_encode. path: the file that
// errors name.
Status encodeText(const mille_text *text, llvm::StringRef bytes, int flags,
                  llvm::StringRef path, mlir::MLIRContext &context,
                  std::vector<int32_t> &ids);

} // namespace mille

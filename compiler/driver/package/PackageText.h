// The tokenizer of a package, opened. Must not know how a text becomes ids.
#pragma once
#include "compiler/driver/package/Package.h"
#include "text/mille_text.h"

#include <memory>

namespace mille {

using OpenText = std::unique_ptr<mille_text, void (*)(mille_text *)>;

// What a call of the text room means for the tool: an error in `path` with its
// sentence, unless it is done.
Status judgeText(mille_text_status status, llvm::StringRef path,
                 mlir::MLIRContext &context);

// Opens NAME.tokens; an error where the package has none.
Status openText(const Package &package, mlir::MLIRContext &context,
                OpenText &text);

// The ids of `bytes`, with the flags of mille_text_encode. path: in whose name
// errors are said.
Status encodeText(const mille_text *text, llvm::StringRef bytes, int flags,
                  llvm::StringRef path, mlir::MLIRContext &context,
                  std::vector<int32_t> &ids);

} // namespace mille

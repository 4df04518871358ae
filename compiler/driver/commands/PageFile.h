// Writes a page for a browser to a file, whole or not at all.
#pragma once
#include "compiler/Status.h"
#include "compiler/pages/Page.h"
#include "mlir/IR/MLIRContext.h"

namespace mille {

Status writePageFile(PageKind kind, llvm::StringRef path, llvm::StringRef title,
                     llvm::StringRef json, mlir::MLIRContext &context);

} // namespace mille

// Reads models as `.mlir` text.
#pragma once
#include "compiler/import/Import.h"

namespace mille::import {

// Parses a file. Brackets that nest deeper than the parser can recurse are an
// error. Null after an error.
mlir::OwningOpRef<mlir::ModuleOp> parseText(llvm::StringRef path,
                                            mlir::MLIRContext &context);

// Parses a file that must hold one transformer.model.
Status importText(llvm::StringRef path, mlir::MLIRContext &context,
                  Imported &imported);

// The offset of the bracket that nests too deep, or npos.
size_t tooDeep(llvm::StringRef text, unsigned most);

} // namespace mille::import

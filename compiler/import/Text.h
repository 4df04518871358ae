// Reads models as `.mlir` text.
#pragma once
#include "compiler/import/Import.h"

namespace mille::import {

// Parses a file that checkText accepts. Null after an error.
mlir::OwningOpRef<mlir::ModuleOp> parseText(llvm::StringRef path,
                                            mlir::MLIRContext &context);

// Parses a file that must hold one transformer.model.
Status importText(llvm::StringRef path, mlir::MLIRContext &context,
                  Imported &imported);

// An error where MLIR's parser must not see `text`, which stands in `path`: its
// brackets nest deeper than the parser can recurse, it names a result of a
// number for which memory does not suffice, or it is bytecode.
mlir::LogicalResult checkText(llvm::StringRef text, llvm::StringRef path,
                              mlir::MLIRContext &context);

} // namespace mille::import

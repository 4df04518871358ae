// `mille verify --certificate`: the rewrites of a package, measured again.
// Must not change what a package claims.
#pragma once
#include "compiler/Status.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

namespace mille {

struct Package;

// The rewrites of a package measured again; Status::bug where one moves more
// than it says.
Status verifyCertificate(const Package &package, unsigned threads,
                         mlir::MLIRContext &context, llvm::raw_ostream &out);

} // namespace mille

// `mille verify --certificate`: measures the rewrites of a package again.
// Must not change what a package claims.
#pragma once
#include "compiler/Status.h"
#include "mlir/IR/MLIRContext.h"

namespace mille {

struct Package;
class VerifyReport;

// Measures the rewrites of a package. Returns Status::bug if one changes
// results by more than its claim.
Status verifyCertificate(const Package &package, unsigned threads,
                         mlir::MLIRContext &context, VerifyReport &report);

} // namespace mille

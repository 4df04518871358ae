// Prints the table of fusions in columns. Must not decide anything.
#pragma once
#include "compiler/driver/package/Package.h"
#include "llvm/Support/raw_ostream.h"

namespace mille {

void printReport(const Package &package, llvm::raw_ostream &out);

} // namespace mille

// The fusion table in columns. Must not decide anything.
#pragma once
#include "compiler/driver/package/Package.h"
#include "llvm/Support/raw_ostream.h"

namespace mille {

void printReport(const Package &package, llvm::raw_ostream &out);

// "1.2 MB": bytes as people say them.
std::string sayBytes(double bytes);

} // namespace mille

// Writes everything that is known of a package as JSON, for `mille report`.
// Must not decide anything.
#pragma once
#include "compiler/driver/commands/Measured.h"
#include "compiler/driver/commands/UnitKinds.h"
#include "llvm/Support/raw_ostream.h"

namespace mille {

struct PackageReport {
  const Package &package;
  UnitKinds units;
  BenchOptions run; // of what was measured
  std::optional<Measured> measured;
};

void writeReport(const PackageReport &report, llvm::raw_ostream &out);

} // namespace mille

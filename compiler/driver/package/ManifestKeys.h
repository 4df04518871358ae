// The keys of NAME.json and their types and ranges, in one table.
// Must only check. Readers rely on the check.
#pragma once
#include "compiler/json/Json.h"

namespace mille {

// Checks the value of `mille_package` against the table. An error names the
// key, its value and what it must be.
bool checkManifest(const json::Document &document, mlir::MLIRContext &context);

} // namespace mille

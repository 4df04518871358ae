// The keys of NAME.json: what each may hold, in one table.
// Must not read a value for anybody: who reads them may rely on the table.
#pragma once
#include "compiler/json/Json.h"

namespace mille {

// Whether the value of `mille_package` is as the table says; errors with the
// key, what it is and what it must be.
bool checkManifest(const json::Document &document, mlir::MLIRContext &context);

} // namespace mille

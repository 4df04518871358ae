// Writes the pages and the JSON Schema of native specs from SpecKeys.
#pragma once
#include "llvm/Support/raw_ostream.h"

namespace mille::import {

// docs/spec.md: describes specs, then has a table per object.
void writeSpecPage(llvm::raw_ostream &out);

// docs/spec.schema.json: JSON Schema, draft 2020-12.
void writeSpecSchema(llvm::raw_ostream &out);

// docs/init.md: the schemes that make weights.
void writeSchemesPage(llvm::raw_ostream &out);

} // namespace mille::import

// Which options of a compilation go together.
#pragma once
#include "compiler/driver/Compiler.h"

namespace mille {

// False after an error: valid options that do not go together.
bool checkRequest(const CompileRequest &request, const DtypeChoice &dtype,
                  mlir::MLIRContext &context);

} // namespace mille

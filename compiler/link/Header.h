// NAME.h: mille.h and the model's own functions, in one file without includes
// of ours.
#pragma once
#include "dialects/kernel/Signature.h"

#include <string>
#include <vector>

namespace mille::link {

// `model` holds the planned entries: one function for each.
std::string writeHeader(llvm::StringRef name, mlir::Operation *model,
                        bool embedded);

// The functions of mille.h, by name.
std::vector<std::string> functionsOfMille();

} // namespace mille::link

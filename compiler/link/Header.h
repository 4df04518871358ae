// Writes NAME.h: mille.h and the model's own functions in one file, which needs
// no other header of Mille.
#pragma once
#include "dialects/kernel/Signature.h"

#include <string>
#include <vector>

namespace mille::link {

// `model` holds the planned entries; each gets a function.
std::string writeHeader(llvm::StringRef name, mlir::Operation *model,
                        bool embedded);

// The names of the functions of mille.h.
std::vector<std::string> functionsOfMille();

} // namespace mille::link

// NAME.h: mille.h and the model's own functions, in one file without includes
// of ours.
#pragma once
#include "dialects/kernel/Signature.h"

#include <string>

namespace mille::link {

std::string writeHeader(llvm::StringRef name,
                        const kernel::Signature &signature, bool embedded);

} // namespace mille::link

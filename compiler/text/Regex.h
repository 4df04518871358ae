// Patterns of `tokenizers` (Oniguruma, Ruby's syntax) as patterns of PCRE2.
// Must not let a pattern through that means something else there.
#pragma once
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mille {

// False, and a sentence in `why`, where a part of the pattern has no meaning in
// PCRE2, or another one.
bool translateRegex(llvm::StringRef pattern, std::string &translated,
                    std::string &why);
// A pattern that matches this text only.
std::string escapeRegex(llvm::StringRef text);

} // namespace mille

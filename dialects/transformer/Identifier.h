// Names that are identifiers of C too: of models, sizes and arguments.
// Must not know what is named.
#pragma once
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mille {

// The longest name that every C compiler tells from others (C11, 5.2.4.1).
constexpr size_t longestIdentifier = 63;

// Whether `text` is letters, digits and _, and does not begin with a digit.
bool isIdentifier(llvm::StringRef text);

// `text` with _ in place of what an identifier cannot hold, before a digit at
// its beginning, and if it is empty. Cut after `most` characters.
std::string identifierFrom(llvm::StringRef text,
                           size_t most = longestIdentifier);

} // namespace mille

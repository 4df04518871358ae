// Names that are identifiers of C too. Must not know what is named.
#include "dialects/transformer/Identifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;

static bool isPart(char c) { return llvm::isAlnum(c) || c == '_'; }

bool mille::isIdentifier(StringRef text) {
  return !text.empty() && !llvm::isDigit(text[0]) && llvm::all_of(text, isPart);
}

std::string mille::identifierFrom(StringRef text, size_t most) {
  std::string name;
  if (text.empty() || llvm::isDigit(text[0]))
    name = "_";
  for (char c : text)
    name += isPart(c) ? c : '_';
  name.resize(std::min(name.size(), most));
  return name;
}

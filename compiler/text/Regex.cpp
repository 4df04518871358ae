// Translates a pattern in one pass, and copies the parts that both syntaxes
// share. Must not know what the pattern splits.
#include "compiler/text/Regex.h"

#include "llvm/ADT/StringExtras.h"

using namespace mille;
using llvm::StringRef;

namespace {

class Translator {
public:
  Translator(StringRef from, std::string &into, std::string &why)
      : from(from), into(into), why(why) {}

  bool run() {
    while (at < from.size())
      if (!one())
        return false;
    return inClass ? refuse("a class that is not closed") : true;
  }

private:
  bool refuse(const llvm::Twine &what) {
    why = ("the pattern has " + what +
           ", which Mille does not say in PCRE2 (character " +
           llvm::Twine(at + 1) + ")")
              .str();
    return false;
  }
  bool next(StringRef text) const { return from.substr(at).starts_with(text); }
  bool copy(size_t count = 1) {
    into += from.substr(at, count).str();
    at += count;
    return true;
  }

  bool one() {
    char c = from[at];
    if (c == '\\')
      return escape();
    if (inClass)
      return inside(c);
    if (c == '[') {
      inClass = true;
      copy();
      if (next("^"))
        copy();
      return true;
    }
    if (next("(?m") || next("(?i-m") || next("(?x"))
      return refuse("an option other than (?i)");
    if (c == '{' && possessive())
      return refuse("a + after {}, which is no possessive in Ruby");
    return copy();
  }

  // Oniguruma adds classes in classes, and what two classes share.
  bool inside(char c) {
    if (next("&&"))
      return refuse("an intersection of classes, &&");
    if (c == '[')
      return refuse("a class in a class");
    inClass = c != ']';
    return copy();
  }

  bool possessive() const {
    size_t end = from.find('}', at);
    return end != StringRef::npos && end + 1 < from.size() &&
           from[end + 1] == '+' &&
           from.slice(at + 1, end).find_first_not_of("0123456789,") ==
               StringRef::npos;
  }

  // White space and word characters are other sets in PCRE2 than Unicode's.
  bool escape() {
    if (at + 1 == from.size())
      return refuse("a \\ at its end");
    char c = from[at + 1];
    const StringRef word = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";
    switch (c) {
    case 's':
    case 'S':
      into += c == 's' ? "\\p{White_Space}" : "\\P{White_Space}";
      at += 2;
      return true;
    case 'w':
    case 'W':
      if (inClass && c == 'W')
        return refuse("\\W in a class");
      into += inClass    ? word.str()
              : c == 'w' ? ("[" + word + "]").str()
                         : ("[^" + word + "]").str();
      at += 2;
      return true;
    case 'u':
      if (from.size() - at < 6)
        return refuse("a \\u without four digits");
      into += "\\x{" + from.substr(at + 2, 4).str() + "}";
      at += 6;
      return true;
    case 'p':
    case 'P': {
      size_t end = from.find('}', at);
      if (!next(StringRef("\\p{")) && !next(StringRef("\\P{")))
        return refuse("a property without {}");
      return end == StringRef::npos ? refuse("a property that is not closed")
                                    : copy(end + 1 - at);
    }
    case 'd':
    case 'D':
    case 'A':
    case 'z':
    case 'n':
    case 'r':
    case 't':
    case 'f':
    case 'x':
      return copy(2);
    default:
      if (llvm::isAlnum(c))
        return refuse("\\" + llvm::Twine(c));
      return copy(2);
    }
  }

  StringRef from;
  std::string &into, &why;
  size_t at = 0;
  bool inClass = false;
};

} // namespace

bool mille::translateRegex(StringRef pattern, std::string &translated,
                           std::string &why) {
  translated.clear();
  return Translator(pattern, translated, why).run();
}

std::string mille::escapeRegex(StringRef text) {
  std::string escaped;
  for (char c : text) {
    if (uint8_t(c) < 0x80 && !llvm::isAlnum(c))
      escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// Scans JSON without building a tree. Must not accept invalid JSON.
#include "compiler/text/Sections.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

#include <cmath>

using namespace mille;
using llvm::StringRef;

namespace {

// Behind a string that begins at `at`.
size_t afterString(StringRef text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    at += text[at] == '\\';
  return std::min(at + 1, text.size());
}

// Behind the array or object that begins at `at`.
size_t afterValue(StringRef text, size_t at) {
  unsigned depth = 0;
  while (at < text.size()) {
    char c = text[at];
    if (c == '"') {
      at = afterString(text, at);
      continue;
    }
    depth += c == '[' || c == '{';
    if ((c == ']' || c == '}') && --depth == 0)
      return at + 1;
    ++at;
  }
  return at;
}

json::Position positionOf(StringRef text, size_t at) {
  StringRef before = text.take_front(at);
  size_t line = before.rfind('\n');
  return {unsigned(before.count('\n')) + 1,
          unsigned(line == StringRef::npos ? at + 1 : at - line)};
}

// The text that replaces a section: its brackets, its line breaks, and the text
// before the closing bracket.
std::string placeOf(StringRef section) {
  std::string place(1, section.front());
  size_t last = section.rfind('\n');
  place.append(section.count('\n'), '\n');
  if (last != StringRef::npos)
    place.append(section.size() - last - 2, ' ');
  place += section.back();
  return place;
}

class Cutter {
public:
  explicit Cutter(StringRef text) : text(text) {}

  Sections run() {
    unsigned depth = 0;
    while (at < text.size()) {
      char c = text[at];
      if (c == '"') {
        string(depth);
        continue;
      }
      depth += c == '{' || c == '[';
      if ((c == '}' || c == ']') && depth)
        --depth;
      ++at;
    }
    sections.rest += text.substr(copied).str();
    return std::move(sections);
  }

private:
  // A key of the root, or of its `model`; anything else is passed over.
  void string(unsigned depth) {
    size_t begin = at;
    at = afterString(text, at);
    StringRef word = text.slice(begin + 1, at - 1);
    size_t colon = text.find_first_not_of(" \t\r\n", at);
    if (colon == StringRef::npos || text[colon] != ':')
      return;
    if (depth == 1)
      ofModel = word == "model";
    if (depth != 2 || !ofModel || (word != "vocab" && word != "merges"))
      return;
    size_t value = text.find_first_not_of(" \t\r\n", colon + 1);
    if (value == StringRef::npos || (text[value] != '{' && text[value] != '['))
      return;
    size_t end = afterValue(text, value);
    Sections::Section &section =
        word == "vocab" ? sections.vocab : sections.merges;
    // Of two the tree says that there are two.
    section = {text.slice(value, end), positionOf(text, value)};
    if (section.text.size() < 2 ||
        section.text.back() != (text[value] == '{' ? '}' : ']')) {
      section.text = "";
      return;
    }
    sections.rest += text.slice(copied, value).str() + placeOf(section.text);
    copied = at = end;
  }

  StringRef text;
  Sections sections;
  size_t at = 0, copied = 0;
  bool ofModel = false;
};

class Scanner {
public:
  Scanner(const Sections::Section &section, StringRef path,
          mlir::MLIRContext &context)
      : text(section.text), line(section.at.line),
        lineStart(-int64_t(section.at.column) + 1), context(context) {
    document.path = path.str();
  }

  bool run(llvm::function_ref<bool(SectionEntry &)> each) {
    const bool object = text[at++] == '{';
    const char close = object ? '}' : ']';
    space();
    if (take(close))
      return true;
    SectionEntry entry;
    do {
      space();
      entry.at = here();
      if (!(object ? member(entry) : item(entry)) || !each(entry))
        return false;
      space();
    } while (take(','));
    return take(close) || fail("a comma or a closing bracket was expected");
  }

private:
  json::Position here() const {
    return {line, unsigned(int64_t(at) - lineStart) + 1};
  }
  bool fail(const llvm::Twine &what) {
    mlir::emitError(document.locate(here(), context)) << what;
    return false;
  }
  void space() {
    for (; at < text.size(); ++at) {
      if (text[at] == '\n') {
        ++line;
        lineStart = int64_t(at) + 1;
      } else if (text[at] != ' ' && text[at] != '\t' && text[at] != '\r') {
        return;
      }
    }
  }
  bool take(char c) {
    bool found = at < text.size() && text[at] == c;
    at += found;
    return found;
  }
  bool expect(char c) {
    space();
    if (take(c)) {
      space();
      return true;
    }
    return fail("'" + llvm::Twine(c) + "' was expected here");
  }

  bool member(SectionEntry &entry) {
    return string(entry.first) && expect(':') && number(entry.number);
  }
  bool item(SectionEntry &entry) {
    entry.second.clear();
    entry.pair = take('[');
    if (!entry.pair)
      return string(entry.first);
    space();
    if (!string(entry.first) || !expect(','))
      return false;
    bool isString = at < text.size() && text[at] == '"';
    return (isString ? string(entry.second) : number(entry.number)) &&
           expect(']');
  }

  bool number(double &into) {
    size_t end = text.find_first_not_of("+-.0123456789eE", at);
    StringRef word = text.slice(at, end);
    if (word.empty() || word.getAsDouble(into) || !std::isfinite(into))
      return fail("a number was expected here");
    at += word.size();
    return true;
  }

  bool string(std::string &into) {
    into.clear();
    if (!take('"'))
      return fail("a string was expected here");
    while (at < text.size()) {
      size_t end = at;
      while (end < text.size() && text[end] != '"' && text[end] != '\\' &&
             uint8_t(text[end]) >= 0x20)
        ++end;
      into.append(text.data() + at, end - at);
      at = end;
      if (take('"'))
        return legal(into);
      if (!take('\\') || !escape(into))
        return fail("a string is malformed");
    }
    return fail("a string is not closed");
  }
  bool legal(const std::string &into) {
    auto *begin = reinterpret_cast<const llvm::UTF8 *>(into.data());
    return llvm::isLegalUTF8String(&begin, begin + into.size()) ||
           fail("the text is not UTF-8");
  }

  bool escape(std::string &into) {
    if (at == text.size())
      return false;
    const StringRef from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
    char c = text[at++];
    if (size_t which = from.find(c); which != StringRef::npos) {
      into += to[which];
      return true;
    }
    uint32_t code = 0, low = 0;
    if (c != 'u' || !digits(code))
      return false;
    if (code >= 0xd800 && code < 0xdc00) {
      if (!take('\\') || !take('u') || !digits(low) || low < 0xdc00 ||
          low >= 0xe000)
        return false;
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
      return false;
    }
    char bytes[4], *end = bytes;
    llvm::ConvertCodePointToUTF8(code, end);
    into.append(bytes, end - bytes);
    return true;
  }
  bool digits(uint32_t &code) {
    StringRef word = text.substr(at, 4);
    at += word.size();
    return word.size() == 4 && llvm::all_of(word, llvm::isHexDigit) &&
           !word.getAsInteger(16, code);
  }

  StringRef text;
  size_t at = 0;
  unsigned line;
  int64_t lineStart; // in `text`; before it on the section's first line
  json::Document document;
  mlir::MLIRContext &context;
};

} // namespace

Sections mille::cutSections(StringRef text) { return Cutter(text).run(); }

bool mille::readSection(const Sections::Section &section, StringRef path,
                        mlir::MLIRContext &context,
                        llvm::function_ref<bool(SectionEntry &)> each) {
  return Scanner(section, path, context).run(each);
}

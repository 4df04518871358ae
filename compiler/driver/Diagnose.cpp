// Prints diagnostics as `file:line:col: error: ...` with the line and a caret.
// Must not decide whose mistake an error is (Status).
#include "compiler/driver/Diagnose.h"

#include "compiler/driver/Progress.h"

using namespace mille;
using llvm::raw_ostream;
using llvm::StringRef;

Diagnose::~Diagnose() {
  if (errorCount > mostErrors)
    stream << "mille: " << errorCount - mostErrors
           << " more errors are not shown\n";
  stream.flush();
}

void Diagnose::report(const Diagnostic &diagnostic) {
  clearProgress();
  if (diagnostic.kind == Diagnostic::Kind::error && ++errorCount > mostErrors)
    return;
  printOne(diagnostic);
  // Print help last, whatever the order in which the notes were attached.
  for (const Diagnostic &note : diagnostic.notes)
    printOne(note);
  for (const std::string &help : diagnostic.help)
    stream << "help: " << help << '\n';
  stream.flush();
}

static std::pair<StringRef, raw_ostream::Colors> wordOf(Diagnostic::Kind kind) {
  switch (kind) {
  case Diagnostic::Kind::error:
    return {"error", raw_ostream::RED};
  case Diagnostic::Kind::warning:
    return {"warning", raw_ostream::MAGENTA};
  case Diagnostic::Kind::note:
    return {"note", raw_ostream::CYAN};
  case Diagnostic::Kind::remark:
    return {"remark", raw_ostream::BLUE};
  }
  llvm_unreachable("a Kind has one of the values above");
}

void Diagnose::printOne(const Diagnostic &diagnostic) {
  if (!diagnostic.file.empty()) {
    stream << diagnostic.file << ':';
    if (diagnostic.line)
      stream << diagnostic.line << ':' << diagnostic.column << ':';
  } else {
    stream << "mille:";
  }
  stream << ' ';
  auto [word, colour] = wordOf(diagnostic.kind);
  if (colours)
    stream.changeColor(colour, /*Bold=*/true);
  stream << word << ':';
  if (colours)
    stream.resetColor();
  stream << ' ' << diagnostic.text << '\n';
  printSource(diagnostic);
}

StringRef Diagnose::lineOf(StringRef path, unsigned line) {
  auto [entry, isNew] = sources.try_emplace(path);
  if (isNew)
    if (auto buffer = llvm::MemoryBuffer::getFile(path))
      entry->second = std::move(*buffer);
  if (!entry->second)
    return {};
  StringRef rest = entry->second->getBuffer();
  for (unsigned i = 1; i < line; ++i) {
    size_t end = rest.find('\n');
    if (end == StringRef::npos)
      return {};
    rest = rest.drop_front(end + 1);
  }
  return rest.take_until([](char c) { return c == '\n' || c == '\r'; });
}

static bool startsCharacter(char c) { return (c & 0xC0) != 0x80; }

// Prints the line with a caret under the column. Of a long line it prints the
// part around the column.
void Diagnose::printSource(const Diagnostic &diagnostic) {
  if (diagnostic.line == 0 || diagnostic.column == 0)
    return;
  StringRef line = lineOf(diagnostic.file, diagnostic.line);
  size_t column = diagnostic.column - 1; // in bytes
  if (line.empty() || column > line.size())
    return;
  constexpr size_t width = 100;
  size_t from = 0;
  if (line.size() > width && column > width / 2)
    from = column - width / 2;
  while (from > 0 && !startsCharacter(line[from]))
    --from;
  StringRef shown = line.substr(from, width);
  std::string caret;
  for (size_t i = 0; i < shown.size() && from + i < column; ++i)
    if (startsCharacter(shown[i]))
      caret += ' ';
  std::string text;
  for (char c : shown) // control characters would move the caret
    text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  stream << "  " << text << "\n  " << caret << "^\n";
}

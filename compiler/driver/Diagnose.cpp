// Prints MLIR diagnostics as `file:line:col: error: ...` with the line and a
// caret, and counts them. Must not decide whose mistake an error is (Status).
#include "compiler/driver/Diagnose.h"

#include "compiler/driver/Progress.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mille;
using llvm::raw_ostream;
using llvm::StringRef;

// The first place in a file that a location names, or null.
static mlir::FileLineColLoc placeOf(mlir::Location location) {
  mlir::FileLineColLoc place;
  location->walk([&](mlir::Location part) {
    if (auto file = llvm::dyn_cast<mlir::FileLineColLoc>(part)) {
      place = file;
      return mlir::WalkResult::interrupt();
    }
    return mlir::WalkResult::advance();
  });
  return place;
}

Diagnose::Diagnose(mlir::MLIRContext &context, raw_ostream &stream,
                   bool colours)
    : context(context), stream(stream), colours(colours) {
  handler = context.getDiagEngine().registerHandler(
      [this](mlir::Diagnostic &diagnostic) { print(diagnostic); });
}

Diagnose::~Diagnose() {
  context.getDiagEngine().eraseHandler(handler);
  if (errorCount > mostErrors)
    stream << "mille: " << errorCount - mostErrors
           << " more errors are not shown\n";
  stream.flush();
}

void Diagnose::print(mlir::Diagnostic &diagnostic) {
  clearProgress();
  switch (diagnostic.getSeverity()) {
  case mlir::DiagnosticSeverity::Error:
    if (++errorCount > mostErrors)
      return;
    printOne(diagnostic, "error", raw_ostream::RED);
    break;
  case mlir::DiagnosticSeverity::Warning:
    printOne(diagnostic, "warning", raw_ostream::MAGENTA);
    break;
  case mlir::DiagnosticSeverity::Note:
    printOne(diagnostic, "note", raw_ostream::CYAN);
    break;
  case mlir::DiagnosticSeverity::Remark:
    printOne(diagnostic, "remark", raw_ostream::BLUE);
    break;
  }
  // Help comes last, whatever the order in which the notes were attached.
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    if (!StringRef(note.str()).starts_with("help: "))
      printOne(note, "note", raw_ostream::CYAN);
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    if (StringRef(note.str()).starts_with("help: "))
      stream << note.str() << '\n';
  stream.flush();
}

void Diagnose::printOne(mlir::Diagnostic &diagnostic, StringRef severity,
                        raw_ostream::Colors colour) {
  mlir::FileLineColLoc place = placeOf(diagnostic.getLocation());
  if (place) {
    stream << place.getFilename().getValue() << ':';
    if (place.getLine())
      stream << place.getLine() << ':' << place.getColumn() << ':';
  } else {
    stream << "mille:";
  }
  stream << ' ';
  if (colours)
    stream.changeColor(colour, /*Bold=*/true);
  stream << severity << ':';
  if (colours)
    stream.resetColor();
  stream << ' ' << diagnostic.str() << '\n';
  if (place)
    printSource(place);
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

// The line, or the part of a long one around the column, and a caret under it.
void Diagnose::printSource(mlir::FileLineColLoc location) {
  if (location.getLine() == 0 || location.getColumn() == 0)
    return;
  StringRef line =
      lineOf(location.getFilename().getValue(), location.getLine());
  size_t column = location.getColumn() - 1; // in bytes
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

void mille::sayError(const llvm::Twine &text) {
  clearProgress();
  llvm::raw_ostream &stream = llvm::errs();
  stream << "mille: ";
  if (stream.has_colors())
    stream.changeColor(raw_ostream::RED, /*Bold=*/true);
  stream << "error:";
  if (stream.has_colors())
    stream.resetColor();
  stream << ' ' << text << '\n';
}

void mille::sayHelp(const llvm::Twine &text) {
  llvm::errs() << "help: " << text << '\n';
}

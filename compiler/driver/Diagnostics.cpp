// Converts MLIR's diagnostics to data: place, text, notes, help.
// Must not print.
#include "compiler/driver/Diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mille;
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

static Diagnostic::Kind kindOf(mlir::DiagnosticSeverity severity) {
  switch (severity) {
  case mlir::DiagnosticSeverity::Error:
    return Diagnostic::Kind::error;
  case mlir::DiagnosticSeverity::Warning:
    return Diagnostic::Kind::warning;
  case mlir::DiagnosticSeverity::Note:
    return Diagnostic::Kind::note;
  case mlir::DiagnosticSeverity::Remark:
    return Diagnostic::Kind::remark;
  }
  llvm_unreachable("a severity has one of the values above");
}

// A note that starts with "help: " is help.
static Diagnostic asData(mlir::Diagnostic &emitted) {
  Diagnostic diagnostic;
  diagnostic.kind = kindOf(emitted.getSeverity());
  diagnostic.text = emitted.str();
  if (mlir::FileLineColLoc place = placeOf(emitted.getLocation())) {
    diagnostic.file = place.getFilename().str();
    diagnostic.line = place.getLine();
    diagnostic.column = place.getColumn();
  }
  for (mlir::Diagnostic &note : emitted.getNotes()) {
    std::string text = note.str();
    StringRef help = text;
    if (help.consume_front("help: "))
      diagnostic.help.push_back(help.str());
    else
      diagnostic.notes.push_back(asData(note));
  }
  return diagnostic;
}

Reporting::Reporting(mlir::MLIRContext &context, Diagnostics &receiver)
    : context(context) {
  handler = context.getDiagEngine().registerHandler(
      [&receiver](mlir::Diagnostic &emitted) {
        receiver.report(asData(emitted));
      });
}

Reporting::~Reporting() { context.getDiagEngine().eraseHandler(handler); }

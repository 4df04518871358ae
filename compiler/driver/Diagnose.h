// Prints MLIR diagnostics as `file:line:col: error: ...` with the line and a
// caret, and counts them. Must not decide whose mistake an error is (Status).
#pragma once
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>

namespace mille {

class Diagnose {
public:
  // While it lives, diagnostics of `context` go to `stream`. At most 20 errors
  // are shown. A note that starts with "help: " becomes a help line.
  Diagnose(mlir::MLIRContext &context, llvm::raw_ostream &stream, bool colours);
  ~Diagnose();

  unsigned errors() const { return errorCount; }

private:
  void print(mlir::Diagnostic &diagnostic);
  void printOne(mlir::Diagnostic &diagnostic, llvm::StringRef severity,
                llvm::raw_ostream::Colors colour);
  void printSource(mlir::FileLineColLoc location);
  llvm::StringRef lineOf(llvm::StringRef path, unsigned line);

  static constexpr unsigned mostErrors = 20;
  mlir::MLIRContext &context;
  llvm::raw_ostream &stream;
  bool colours;
  unsigned errorCount = 0;
  mlir::DiagnosticEngine::HandlerID handler;
  llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> sources;
};

// One message without a place: `mille: error: <text>`.
void sayError(const llvm::Twine &text);
// `help: <text>`, what one could do about the error above.
void sayHelp(const llvm::Twine &text);

} // namespace mille

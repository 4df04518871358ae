// The messages of a compile, as data. Must not print, and must not decide whose
// mistake an error is (Status).
#pragma once
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <string>
#include <vector>

namespace mille {

struct Diagnostic {
  enum class Kind { error, warning, note, remark };
  Kind kind = Kind::error;
  std::string file;              // empty: the message is about no file
  unsigned line = 0, column = 0; // from 1; 0: about the whole file
  std::string text;
  std::vector<Diagnostic> notes;
  std::vector<std::string> help; // what the user could do about it
};

// Receives the messages of a compile, one at a time, from any thread.
class Diagnostics {
public:
  virtual ~Diagnostics() = default;
  virtual void report(const Diagnostic &diagnostic) = 0;
};

// While this object lives, diagnostics of `context` go to `receiver`.
class Reporting {
public:
  Reporting(mlir::MLIRContext &context, Diagnostics &receiver);
  ~Reporting();
  Reporting(const Reporting &) = delete;

private:
  mlir::MLIRContext &context;
  mlir::DiagnosticEngine::HandlerID handler;
};

} // namespace mille

// What a compile has to say, as data. Must not print, and must not decide whose
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
  std::string file;              // empty: it is about no file
  unsigned line = 0, column = 0; // from 1; 0: about the whole file
  std::string text;
  std::vector<Diagnostic> notes;
  std::vector<std::string> help; // what one could do about it
};

// Takes what is said. A compile says one thing at a time, from any thread.
class Diagnostics {
public:
  virtual ~Diagnostics() = default;
  virtual void report(const Diagnostic &diagnostic) = 0;
};

// While it lives, what is emitted in `context` is reported to `receiver`.
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

// Prints diagnostics as `file:line:col: error: ...` with the line and a caret.
// Must not decide whose mistake an error is (Status).
#pragma once
#include "compiler/driver/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>

namespace mille {

class Diagnose : public Diagnostics {
public:
  // Shows at most 20 errors, and at the end how many more there are.
  Diagnose(llvm::raw_ostream &stream, bool colours)
      : stream(stream), colours(colours) {}
  ~Diagnose() override;

  void report(const Diagnostic &diagnostic) override;

private:
  void printOne(const Diagnostic &diagnostic);
  void printSource(const Diagnostic &diagnostic);
  llvm::StringRef lineOf(llvm::StringRef path, unsigned line);

  static constexpr unsigned mostErrors = 20;
  llvm::raw_ostream &stream;
  bool colours;
  unsigned errorCount = 0;
  llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> sources;
};

} // namespace mille

// Collects errors and notes about a model's files and emits them in file order.
// Must not know what they are about.
#pragma once
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"

#include <deque>
#include <string>
#include <vector>

namespace mille::import {

class Problems {
public:
  struct Problem {
    mlir::Location at;
    std::string text;
    bool isError;
    std::vector<std::pair<mlir::Location, std::string>> notes;

    Problem &note(mlir::LocationAttr at, const llvm::Twine &text);
    Problem &help(const llvm::Twine &text);
  };

  Problem &error(mlir::LocationAttr at, const llvm::Twine &text);
  // Not an error: something a user would want to know.
  Problem &note(mlir::LocationAttr at, const llvm::Twine &text);

  bool any() const { return errors > 0; }
  size_t count() const { return errors; }
  // The problems that were found and not emitted yet.
  void forEach(llvm::function_ref<void(Problem &)> use) {
    for (Problem &problem : problems)
      use(problem);
  }
  // Emits all problems so far; false if one is an error.
  bool tell();

  static constexpr size_t most = 20;

private:
  std::deque<Problem> problems; // references stay valid
  size_t errors = 0;
};

} // namespace mille::import

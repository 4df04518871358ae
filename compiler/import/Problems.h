// Collects errors and notes about a model's files and emits them in file order.
// Must not know what they are about.
#pragma once
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"

#include <list>
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

  // The problem that is returned may be changed until the next one is added.
  Problem &error(mlir::LocationAttr at, const llvm::Twine &text);
  // Not an error: something a user would want to know.
  Problem &note(mlir::LocationAttr at, const llvm::Twine &text);

  bool any() const { return errors.count > 0; }
  size_t count() const { return errors.count; }
  // The errors that were found and not emitted yet.
  void forEachError(llvm::function_ref<void(Problem &)> use) {
    for (Problem &problem : errors.first)
      use(problem);
  }
  // Emits all problems so far; false if one is an error.
  bool tell();

private:
  // Those that stand first in the file, in its order; the rest is counted.
  struct Kept {
    size_t most;
    std::list<Problem> first = {};
    size_t count = 0;
  };
  Problem &add(Kept &kept, Problem problem);

  Kept errors = {20}, notes = {100};
  std::list<Problem> dropped; // the last that was not kept
};

} // namespace mille::import

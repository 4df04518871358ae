// What a rewrite did and what it declined, where and why: the func attribute
// `transformer.rewrites`. Decides nothing.
#pragma once
#include "compiler/rewrite/Passes.h"

namespace mille::rewrite {

// Adds to the attribute when destroyed; each entry is then a remark too. What
// is alike in many layers is one entry.
class RewriteLog {
public:
  RewriteLog(mlir::func::FuncOp function, llvm::StringRef name);
  ~RewriteLog();

  // `at` is the op that was rewritten, or that could have been; `what` a
  // clause.
  void applied(mlir::Operation *at, llvm::StringRef what, bool exact = false);
  void declinedByLaw(mlir::Operation *at, llvm::StringRef why);
  void declinedByCost(mlir::Operation *at, llvm::StringRef why);
  void
  declinedBitExact(mlir::Operation *at); // --bit-exact, and a rounding moves
  void found(mlir::Operation *at, llvm::StringRef what);

private:
  struct Entry {
    std::string unit, status, reason, bound;
    int roundings;
    mlir::Location at;
    llvm::SmallVector<int64_t> layers;
  };
  void add(mlir::Operation *at, llvm::StringRef status, llvm::StringRef reason,
           llvm::StringRef bound = "", int roundings = 0);

  mlir::func::FuncOp function;
  const Law &law;
  std::vector<Entry> entries;
};

} // namespace mille::rewrite

// Records what a rewrite did or declined, where and why, in the func attribute
// `transformer.rewrites`. Must not decide anything.
#pragma once
#include "compiler/rewrite/Cost.h"
#include "compiler/rewrite/Passes.h"

namespace mille::rewrite {

// Its destructor adds the entries to the attribute and emits each as a remark.
// Equal entries of several layers become one.
class RewriteLog {
public:
  RewriteLog(mlir::func::FuncOp function, llvm::StringRef name);
  ~RewriteLog();

  // `at`: the op that was rewritten or could have been. `what`: a clause that
  // describes the rewrite.
  void applied(mlir::Operation *at, llvm::StringRef what, bool exact = false);
  void declinedByLaw(mlir::Operation *at, llvm::StringRef why);
  void declinedByCost(mlir::Operation *at, const Cost &cost);
  void
  declinedBitExact(mlir::Operation *at); // --bit-exact, and a rounding changes
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

// The rewrites of norms and scales as passes on the unrolled model, the table
// of them, and their pipeline. Must not know kernels.
#pragma once
#include "dialects/transformer/Transformer.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include <memory>
#include <string>
#include <vector>

namespace mille::rewrite {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/rewrite/Passes.h.inc"

struct Wishes {
  // Names to apply wherever the law allows; absent: all, where they save work.
  std::optional<std::vector<std::string>> names;
  bool bitExact = false;
  bool foldSchedules = false;
};

// A rewrite by its stable name: the pass's flag.
struct Law {
  llvm::StringRef name;
  llvm::StringRef formula, bound; // what holds, and how far roundings move
  int roundings;                  // of 2^-24 for each number, at most
  std::unique_ptr<mlir::Pass> (*create)(const Wishes &wishes);
  bool byWord = false; // only where `Wishes` ask for it by a word of its own
};
llvm::ArrayRef<Law> laws();             // in the order in which they run
const Law *lawOf(llvm::StringRef name); // null: there is none of that name

// The stage `rewrite` of the staircase; `pipeline` is anchored on
// builtin.module.
void addRewritePipeline(mlir::OpPassManager &pipeline, const Wishes &wishes);

} // namespace mille::rewrite

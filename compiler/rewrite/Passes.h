// The passes that rewrite norms and scales of the unrolled model, their table
// and their pipeline. Must not know kernels.
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
  // Names of rewrites to apply wherever their law holds. Absent: all rewrites,
  // but only where they save work.
  std::optional<std::vector<std::string>> names;
  bool bitExact = false;
  bool foldSchedules = false;
};

// A rewrite. Its stable name is the flag of its pass.
struct Law {
  llvm::StringRef name;
  llvm::StringRef formula, bound; // the law, and the change of results
  int roundings;                  // the most roundings of 2^-24 per number
  std::unique_ptr<mlir::Pass> (*create)(const Wishes &wishes);
  bool byWord = false; // applies only if another field of `Wishes` asks for it
};
llvm::ArrayRef<Law> laws();             // in the order in which they run
const Law *lawOf(llvm::StringRef name); // null: no rewrite has that name

// Adds the stage `rewrite` to `pipeline`, which is anchored on builtin.module.
void addRewritePipeline(mlir::OpPassManager &pipeline, const Wishes &wishes);

} // namespace mille::rewrite

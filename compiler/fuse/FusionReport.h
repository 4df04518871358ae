// The report of fusions: for each unit and boundary of the closed list, whether
// it was fused, or the reason why not. Must not decide anything.
#pragma once
#include "compiler/fuse/Boundaries.h"
#include "dialects/kernel/Kernel.h"

#include <string>
#include <vector>

namespace mille {

// Reads the func attribute `kernel.fusions`, adds to it, writes it when
// destroyed. Each declined fusion is also a remark of the category `fuse`.
class FusionReport {
public:
  FusionReport(mlir::func::FuncOp function, llvm::StringRef boundary);
  ~FusionReport();

  // `at` is the op that stands for the unit; bytes per row and launches are
  // what one run of it saves. What was fused before is added to.
  void fused(mlir::Operation *at, int64_t bytes, int64_t launches,
             llvm::StringRef how);
  // A fusion that holds by the form of the op: noted once.
  void holds(mlir::Operation *at, int64_t bytes, int64_t launches,
             llvm::StringRef how);
  // `reason` is a sentence: one of missing::all, or a law.
  void declined(mlir::Operation *at, llvm::StringRef reason);

private:
  struct Entry {
    std::string boundary, unit, layers, status, reason;
    int64_t bytes = 0, launches = 0;
  };
  // The entry of the boundary at hand in the unit of `at`, perhaps new.
  Entry &entryOf(mlir::Operation *at, int64_t &layers);

  mlir::func::FuncOp function;
  std::string boundary;
  std::vector<Entry> entries;
};

// The residual unit, or other part of the model, that a kernel op belongs to.
std::string unitOf(mlir::Operation *kernelOp);

} // namespace mille

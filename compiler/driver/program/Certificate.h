// What rewrites do to numbers: each one's program before and after, measured on
// random and adversarial streams. Checked, never proved.
#pragma once
#include "compiler/interpret/Interpret.h"
#include "compiler/rewrite/Passes.h"
#include "compiler/rewrite/Sample.h"

#include <string>
#include <vector>

namespace mille {

// A rewrite that a package names, and how many roundings of 2^-24 it says that
// each number may move.
struct Claim {
  std::string rewrite;
  int64_t roundings = 0;
};

struct Finding {
  std::string what;   // a rewrite; "kernels", "fusions", "compiled"
  std::string inputs; // "random", "large mean", "large and small", "equal rows"
  std::string type;   // "f64", "f32"
  double error = 0;   // largest difference, relative to the largest number
  double allowed = 0; // what the claim allows at these inputs
  bool good() const { return error <= allowed; }
};

// Streams to try, by what is hard about them.
struct Trial {
  std::string name;
  Values inputs;
};

// The program that is measured, and how sensitive it is to its inputs.
class Laboratory {
public:
  // `imported` is cut to a sample; it must not be rewritten yet.
  Laboratory(mlir::OwningOpRef<mlir::ModuleOp> imported, std::string folder);

  const rewrite::Sample &sample() const { return size; }
  mlir::ModuleOp module() { return *program; }
  llvm::ArrayRef<Trial> trials() const { return all; }
  const Values &answers(size_t trial) const { return before[trial]; }

  // Runs the sample on every trial, and on trials that differ by a rounding.
  Status prepare();
  // Rewrite after rewrite, then kernels, then fusions, all in double.
  Status measure(llvm::ArrayRef<Claim> claims, const rewrite::Wishes &wishes,
                 std::vector<Finding> &measured);
  // The error that `roundings` for each unit may cause in f32, or in f64.
  double allowed(size_t trial, int64_t roundings, bool wide) const;
  // The largest relative difference between two runs of a trial.
  Status difference(size_t trial, const Values &got, const Values &expected,
                    double &error) const;

private:
  Status run(mlir::ModuleOp module, size_t trial, Values &outputs) const;
  Status apply(mlir::ModuleOp module,
               llvm::function_ref<void(mlir::PassManager &)> add) const;
  Status step(mlir::ModuleOp module, llvm::StringRef what,
              llvm::function_ref<double(size_t)> allowance,
              std::vector<Values> &last, std::vector<Finding> &measured) const;

  mlir::OwningOpRef<mlir::ModuleOp> program;
  std::string folder;
  rewrite::Sample size;
  std::vector<Trial> all;
  std::vector<Values> before;
  std::vector<double> wide,
      narrow; // answers' change when inputs move a rounding
};

// What is known of a package's rewrites; part of its manifest.
struct Certificate {
  rewrite::Wishes wishes;
  rewrite::Sample sample;
  std::vector<Finding> measured;
  std::string note; // why nothing was measured, or ""
};

// The rewrites that were applied to `model`, in their order.
std::vector<Claim> claimsOf(mlir::Operation *model);

// Measures where the sample is small; what stands in the way is the note.
Certificate certify(Laboratory &laboratory, llvm::ArrayRef<Claim> claims,
                    const rewrite::Wishes &wishes);

// Of each rewrite the finding that is nearest to, or furthest over, what is
// allowed.
std::vector<const Finding *> worstOfEach(const std::vector<Finding> &findings);

// Small enough to measure while compiling.
bool isSmall(const rewrite::Sample &sample);

} // namespace mille

// Measures how rewrites change numbers: runs the program before and after each
// one on random and adversarial inputs. Must not claim a proof.
#pragma once
#include "compiler/interpret/Routes.h"
#include "compiler/rewrite/Passes.h"
#include "compiler/rewrite/Sample.h"

#include <string>
#include <vector>

namespace mille {

// A rewrite of a package, and its claim: by how many roundings of 2^-24 each
// number may change.
struct Claim {
  std::string rewrite;
  int64_t roundings = 0;
};

struct Finding {
  std::string what;   // a rewrite; "kernels", "fusions", "narrow", "compiled"
  std::string inputs; // "random", "large mean", "large and small", "equal rows"
  std::string type;   // "f64", "f32", or the package's
  double error = 0;   // largest difference, relative to the largest number
  double allowed = 0; // what the claim allows at these inputs
  bool good() const { return error <= allowed; }
};

// Inputs for a measurement; the name says what is hard about them.
struct Trial {
  std::string name;
  Values inputs;
};

// Thorough: every trial, of the rewrites, the kernels and the fusions. Brief:
// of a sample of more than 2^18 numbers only the rewrites, on random rows; of
// one that would take long, with most rows of its weights zeros.
enum class Effort { brief, thorough };

// The program to measure, and its sensitivity to the inputs.
class Laboratory {
public:
  // Cuts `imported`, which must not have been rewritten yet, to a sample.
  Laboratory(mlir::OwningOpRef<mlir::ModuleOp> imported, std::string folder,
             Effort effort);

  const rewrite::Sample &sample() const { return size; }
  bool measuresAll() const { return isWhole; }
  mlir::ModuleOp module() { return *program; }
  llvm::ArrayRef<Trial> trials() const { return all; }
  // What the program says where its rows go to the experts of `routes`.
  Status answer(size_t trial, const Routes &routes, Values &answers) const;

  // Runs the sample on every trial, and on the trial moved by a rounding.
  Status prepare();
  // Measures, all in double, each rewrite; where it measures all, then the
  // conversion to kernels, then the fusions; for another `dtype` than f32 also
  // what the rewrites do to the program in narrow types.
  Status measure(llvm::ArrayRef<Claim> claims, const rewrite::Wishes &wishes,
                 llvm::StringRef dtype, std::vector<Finding> &measured);
  // The error that `roundings` roundings in each unit may cause, in f64 if
  // `wide`, else in f32.
  double allowed(size_t trial, int64_t roundings, bool wide) const;
  // The largest relative difference between two runs of a trial.
  Status difference(size_t trial, const Values &got, const Values &expected,
                    double &error) const;

private:
  void shrink();
  Status run(mlir::ModuleOp module, size_t trial, Values &outputs,
             Routing *routing = nullptr) const;
  Status apply(mlir::ModuleOp module,
               llvm::function_ref<void(mlir::PassManager &)> add) const;
  Status measureKernels(mlir::ModuleOp module, std::vector<Values> &last,
                        std::vector<Finding> &measured) const;
  Status narrow(mlir::ModuleOp rewritten, llvm::StringRef dtype,
                std::vector<Finding> &measured) const;
  Status step(mlir::ModuleOp module, llvm::StringRef what,
              llvm::function_ref<double(size_t)> allowance,
              std::vector<Values> &last, std::vector<Finding> &measured) const;

  mlir::OwningOpRef<mlir::ModuleOp> program;
  std::string folder;
  rewrite::Sample size;
  bool isWhole = true;
  std::vector<Trial> all;
  std::vector<Values> before;
  std::vector<Routing> routed; // of these
  // Per trial: the change of the answers if the inputs change by a rounding, in
  // f64 and in f32.
  std::vector<double> ofF64, ofF32;
};

// The measurements of a package's rewrites; a part of its manifest.
struct Certificate {
  rewrite::Wishes wishes;
  rewrite::Sample sample;
  std::vector<Finding> measured;
  std::string note; // what was not measured and why, or ""
};

// The rewrites that were applied to `model`, in their order.
std::vector<Claim> claimsOf(mlir::Operation *model);

// Measures the rewrites. The note says what is left out of a large sample: all
// of one without rewrites. An error that exceeds what is allowed is a bug, and
// so is a sample that does not run; one in narrow types, of rewrites that were
// asked for, is a matter of the command line.
Status certify(Laboratory &laboratory, llvm::ArrayRef<Claim> claims,
               const rewrite::Wishes &wishes, llvm::StringRef dtype,
               Certificate &certificate);

// For each rewrite the finding with the largest error relative to its bound.
std::vector<const Finding *> worstOfEach(const std::vector<Finding> &findings);
} // namespace mille

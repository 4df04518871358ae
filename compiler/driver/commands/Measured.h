// Measures the speed of a package and the machine's peak in the same run.
// Must not judge it.
#pragma once
#include "compiler/driver/Options.h"
#include "compiler/driver/package/Package.h"
#include "llvm/Support/JSON.h"

namespace mille {

// What a package did on this machine, and the peak of that in the same run.
struct Measured {
  std::string isa;
  std::vector<double> milliseconds; // sorted
  double gflop = 0;                 // of one run
  double peakGflops = 0, readGigabytes = 0;
  std::string device; // "": this machine's CPU
  std::string peakOf; // the type of the multiply-adds: "f32", "bf16", ...
  struct Kernel {     // sums over `profiled` runs
    std::string name;
    double calls = 0, nanoseconds = 0, flops = 0, weightBytes = 0;
  };
  std::vector<Kernel> kernels;
  unsigned profiled = 0;
  double heldBytes = 0; // of states, before the run
  size_t sessionBytes = 0;

  double at(double quantile) const {
    return milliseconds[(milliseconds.size() - 1) * quantile + 0.5];
  }
  double totalNanoseconds() const; // of all kernels, at least 1
  double gflops() const { return gflop / at(0.5) * 1e3; }
  // What a run reads once: weights, and what states hold; and that over the
  // time and what this machine reads. 0: not measured.
  double readBytes() const;
  double shareOfRead() const;
};

// Runs the package. Fills in the sizes that `options` leaves to the package and
// to its `lengths`.
Status measurePackage(BenchOptions &options, const Package &package,
                      mlir::MLIRContext &context, Measured &measured);

// Writes what was measured as members of an object.
void writeMeasured(llvm::json::OStream &json, const BenchOptions &options,
                   const Package &package, const Measured &measured);

} // namespace mille

// Runs the scalar region of a kernel op (arith and math on f32) in double.
// Must not know the numbers' meaning or how they are read.
#pragma once
#include "mlir/IR/Region.h"

#include <vector>

namespace mille::interpreter {

// Op by op over whole rows: each value of the region is a row of numbers.
class ScalarRegion {
public:
  // The region has been verified.
  void read(mlir::Region &region);
  // arguments[i] is `columns` numbers; out gets what the region yields.
  void run(const std::vector<const double *> &arguments, int64_t columns,
           double *out);

private:
  struct Step {
    double (*function)(double, double, double);
    int operands[3]; // numbers of values; unused: 0
    double constant; // where function is null
  };
  int push(Step step); // returns its number

  std::vector<Step> steps;
  int arguments = 0, yielded = 0;
  std::vector<std::vector<double>> rows; // of the steps
};

} // namespace mille::interpreter

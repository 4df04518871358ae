// The analysis of one stack: predictions by formulas, simulations of random
// stacks, measurements of a sample run, and advice in words. Must not hold ops.
#pragma once
#include "compiler/analyze/Simulate.h"
#include "llvm/Support/raw_ostream.h"

namespace mille::analyze {

// Facts about the numbers at one residual sum.
struct Range {
  double predicted = 0; // the largest magnitude, if they are normals
  double bound = 0; // no element exceeds it, by operator norms; 0: not computed
  double measuredSecond = 0, measuredLargest = 0; // by a run; 0: none
  double measuredOut = 0; // the second moment of the unit's result in that run
};

// The gradient of the model's own loss at one unit, without approximation.
struct ExactGradient {
  // Second moment at the unit's input, where that at the stack's result is as
  // in simulations.
  double gradient = 0;
  std::array<double, 3> update{}; // of the unit's parameters
};

struct StackAnalysis {
  Stack stack;
  Moments predicted; // for the stack itself
  Moments narrow;    // for the narrowed stack, to compare with the simulation
  Moments simulated;
  std::vector<std::vector<LogitMoments>> logits; // by unit, by attention
  std::vector<Range> ranges;
  std::vector<ExactGradient> exact; // by unit; empty: not measured
  std::array<double, 3> exactUpdate{};
  // The bound, relative to that of one layer of the same units without scales
  // whose weights keep moments.
  std::array<double, 3> depthFactor{};
  // That ratio as a power of the number of layers; NaN below 4 layers.
  std::array<double, 3> depthPower{};
  double overDeepNorm = 0; // the simulated SGD bound, relative to DeepNorm's
  std::vector<std::string> advice;
};

struct AnalysisOptions {
  double keys = 128; // the number of keys of a softmax
  SimulationOptions simulation;
  bool bounds = false;  // operator norms are known
  bool trained = false; // the weights are not initial ones
};

StackAnalysis analyze(const Stack &stack, const AnalysisOptions &options);

// Bound.cpp: bounds the length of each residual sum by operator norms.
std::vector<double> lengthBounds(const Stack &stack);

// Advice.cpp: a stack of the same form with other numbers.
Stack oneLayerWithoutScales(const Stack &stack);
Stack asDeepNorm(const Stack &stack);
// Fills `advice`. Call it last.
void advise(StackAnalysis &analysis, const AnalysisOptions &options);
// The first unit in words: "post-norm with skip_scale 3.6".
std::string placementInWords(const Unit &unit);

struct Report {
  std::string model;
  std::string weights; // "as stored", "by scheme deepnorm", "unknown"
  std::string sample;  // "" if nothing was run
  std::string loss;    // whose exact gradients are measured; "": none
  AnalysisOptions options;
  std::vector<StackAnalysis> stacks;
};

void writeText(const Report &report, bool everyUnit, llvm::raw_ostream &out);
void writeJson(const Report &report, llvm::raw_ostream &out);

// The growth in words: "grows as layers^0.97", "does not grow with depth".
std::string growthInWords(double power);
// A number with four digits: "0.0625", "1.23e+05".
std::string shortNumber(double number);

} // namespace mille::analyze

// All that is said of one stack: what formulas predict, what random stacks do,
// what a sample run measured, and advice in words.
#pragma once
#include "compiler/analyze/Simulate.h"
#include "llvm/Support/raw_ostream.h"

namespace mille::analyze {

// Of the numbers at one residual sum.
struct Range {
  double predicted = 0; // the largest magnitude, of normals of this moment
  double bound = 0; // no element exceeds it, by operator norms; 0: not asked
  double measuredSecond = 0, measuredLargest = 0; // by a run; 0: none
  double measuredOut = 0; // second moment of the unit's result in that run
};

struct StackAnalysis {
  Stack stack;
  Moments predicted; // of the stack itself
  Moments narrow;    // of the narrowed stack, to set beside the simulation
  Moments simulated;
  std::vector<std::vector<LogitMoments>> logits; // by unit, by attention
  std::vector<Range> ranges;
  // The bound over that of one layer of the same units without scales, with
  // weights that keep moments.
  std::array<double, 3> depthFactor{};
  // Which power of the number of layers that is; not a number below 4 layers.
  std::array<double, 3> depthPower{};
  double overDeepNorm = 0; // simulated SGD bound over a DeepNorm stack's
  std::vector<std::string> advice;
};

struct AnalysisOptions {
  double keys = 128; // of a softmax
  SimulationOptions simulation;
  bool bounds = false;  // operator norms are known
  bool trained = false; // weights are not those of a start
};

StackAnalysis analyze(const Stack &stack, const AnalysisOptions &options);

// Bound.cpp: the largest length of each residual sum, by operator norms.
std::vector<double> lengthBounds(const Stack &stack);

// Advice.cpp: the same form with other numbers.
Stack oneLayerWithoutScales(const Stack &stack);
Stack asDeepNorm(const Stack &stack);
// Fills `advice`, after everything else.
void advise(StackAnalysis &analysis, const AnalysisOptions &options);
// "post-norm with skip_scale 3.6", of the first unit.
std::string placementInWords(const Unit &unit);

struct Report {
  std::string model;
  std::string weights; // "as stored", "by scheme deepnorm", "unknown"
  std::string sample;  // "" where nothing was run
  AnalysisOptions options;
  std::vector<StackAnalysis> stacks;
};

void writeText(const Report &report, bool everyUnit, llvm::raw_ostream &out);
void writeJson(const Report &report, llvm::raw_ostream &out);
// One file, with its drawings and nothing from elsewhere.
void writePage(const Report &report, llvm::raw_ostream &out);

// "grows as layers^0.97", "does not grow with depth".
std::string growthInWords(double power);
// "0.0625", "1.23e+05": four digits.
std::string shortNumber(double number);

} // namespace mille::analyze

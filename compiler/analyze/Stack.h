// A stack of residual units, reduced to the numbers that matter for depth:
// norms, taps, scales, and for each branch a chain of maps with their second
// moments. It has the same form for every placement. Must not hold ops.
#pragma once
#include "dialects/transformer/Transformer.h"

#include <string>
#include <vector>

namespace mille::analyze {

// Statistics of a parameter's numbers.
struct Numbers {
  double second = 0;  // mean square
  double length = 0;  // root of the sum of squares
  double largest = 0; // magnitude
  // The operator norm of a matrix, the largest of all experts; 0: not computed.
  double operatorNorm = 0, magnitude = 0;
  double count = 0;
};

struct Norm {
  bool present = false, centred = false;
  double eps = 0;
  Numbers weight{1, 1, 1}, bias; // weight: the factor, with the 1 of 1 + w
};

enum class MapKind {
  input,
  linear,
  norm,
  activate,
  clamp,
  gate,
  add,
  scale,
  attend
};

// A step of a branch. Inputs are the indices of earlier steps.
struct Map {
  MapKind kind = MapKind::input;
  int first = -1, second = -1; // gate: the gate, then the value it multiplies
  double channels = 0;
  // linear: factor * input * W^T + bias
  std::string name;
  double fanIn = 0, factor = 1;
  Numbers weight, bias;
  Norm norm;
  transformer::Activation function = transformer::Activation::identity;
  double offset = 0;        // gate: function(gate) * (up + offset)
  double low = 0, high = 0; // clamp
  double heads = 1;         // attend
};

// The scores of one attention. E[(scale q . k)^2] needs the second moments of
// queries and keys.
struct Logits {
  int query = -1, key = -1; // maps
  double scale = 1, headDim = 0, softcap = 0;
  bool learnedScale = false;
};

struct Branch {
  std::string name;
  std::vector<Map> maps; // the last is the branch's value
  std::vector<Logits> logits;
  Norm inNorm, branchNorm;
  double scale = 1; // of a vector, the root mean square
  // The ops without a formula, which are assumed to keep the moment.
  std::vector<std::string> unknown;
};

struct Unit {
  std::string name;
  int64_t layer = 0;
  std::vector<Branch> branches;
  Norm outNorm;
  bool normedTap = false;
  double skip = 1, stream = 1;
  bool learnedSkip = false, learnedBranch = false;
};

struct Stack {
  std::vector<Unit> units;
  double channels = 0;
  double entry = 1; // second moment of the stack's input
  bool finalNorm = false;
  bool unitBranches = false; // unknown weights: branches keep the moment
};

} // namespace mille::analyze

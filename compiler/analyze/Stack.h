// A stack of residual units as the numbers that depth acts on: norms, taps,
// scales, and for each branch a chain of maps with their second moments. One
// form for every placement. Holds no ops.
#pragma once
#include "dialects/transformer/Transformer.h"

#include <string>
#include <vector>

namespace mille::analyze {

// What is known of a parameter's numbers.
struct Numbers {
  double second = 0;  // mean square
  double length = 0;  // root of the sum of squares
  double largest = 0; // magnitude
  // Of a matrix, the largest over experts; 0: not asked, or too large to.
  double operatorNorm = 0, magnitude = 0;
  double count = 0;
};

struct Norm {
  bool present = false, centred = false;
  double eps = 0;
  Numbers weight{1, 1, 1}, bias; // weight as it multiplies: 1 + w counts whole
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

// One step of a branch. Inputs are numbers of earlier steps.
struct Map {
  MapKind kind = MapKind::input;
  int first = -1, second = -1; // gate: the gate, then what it multiplies
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

// Scores of one attention: E[(scale q . k)^2] needs both rows' second moments.
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
  double scale = 1; // root mean square where it is a vector
  // What the reader does not know by a formula, taken as keeping the moment.
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
  double entry = 1; // second moment of what enters
  bool finalNorm = false;
  bool unitBranches = false; // weights unknown: branches keep the second moment
};

} // namespace mille::analyze

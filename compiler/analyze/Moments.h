// Computes by formulas how a stack changes second moments, forward and
// backward, for one token. Takes maps as independent of their inputs;
// docs/analyze.md says what each number means. Must not draw numbers.
#pragma once
#include "compiler/analyze/Stack.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <array>

namespace mille::analyze {

// For x ~ N(0, moment): E[f^2], E[f'^2], and E|f|, E|f'| relative to the roots
// of these.
struct ActivationMoments {
  double second = 0, slope = 0, absolute = 0, absoluteSlope = 0, mean = 0;
};
ActivationMoments momentsOf(transformer::Activation function, double moment);
// The same for any function that is smooth except for a kink at 0.
ActivationMoments momentsOf(llvm::function_ref<double(double)> function,
                            double moment);

enum Optimiser { sgd, adam, lamb };
constexpr std::array<const char *, 3> optimiserNames = {"SGD", "Adam", "LAMB"};

struct UnitMoments {
  double in = 0;           // second moment of the unit's input
  double branch = 0;       // of all branches together, scaled, at the sum
  double sum = 0;          // of the residual sum, before out_norm
  double out = 0;          // of the unit's result
  double inputWeight = 1;  // of the stack's input in this result, a cosine
  double branchWeight = 0; // of this unit's branches in the stack's result
  double gradient = 0;     // second moment at the unit's input
  std::array<double, 3> update{}; // first-order change of the loss per rate
  // In simulations: the sum of <dL/dW, W>, which is the change of the loss if
  // all W grow together.
  double alongWeights = 0;
};

struct Moments {
  std::vector<UnitMoments> units;
  double effectiveDepth = 0; // sum over units of branch / sum
  double loss = 0;           // in simulations: the mean of the linear loss
  std::array<double, 3> update{};
};

Moments predict(const Stack &stack);

struct LogitMoments {
  double second = 0;     // E[score^2]
  double saturation = 0; // second / (2 ln n): from 1 on, one key takes all
  double keys = 0;       // exp(entropy), of n
};
// The moments of the logits of every attention of a unit, for n keys.
std::vector<LogitMoments> logitsOf(const Unit &unit, double input, double keys);

// The second moment of every map's value for a branch input of moment `input`.
std::vector<double> forwardMoments(const Branch &branch, double input);

// The second moment of a norm's result.
double normed(const Norm &norm, double moment);

} // namespace mille::analyze

// One update of a parameter's numbers: weights, gradients and states lie in
// arrays of the same extent. Must not know parameters or threads.
#pragma once
#include "runtime/abi.h"

namespace mille {

// "sgd", "adam", ...
const char *optimizerName(uint32_t optimizer);
// How many states an optimizer keeps for each number.
int statesOf(const mille_training_info &training);

// A stretch of a parameter; `first` and `second` are its states, where the
// optimizer has them.
struct Stretch {
  float *weight, *gradient;
  float *first, *second;
  uint64_t count;
};

// What an update multiplies by, for one group and one step.
struct UpdateNumbers {
  // step: the number of this update, from 1 on. scale: a factor on gradients.
  // features: of this CPU.
  UpdateNumbers(const mille_training_info &training, double rate, double decay,
                double scale, int64_t step, uint64_t features);
  uint64_t features;
  uint32_t optimizer;
  float rate, decay, scale, keep;
  float firstBeta, firstRest, secondBeta, secondRest, epsilon;
  float corrected;       // rate / (1 - first^step)
  float firstCorrection; // 1 / (1 - first^step)
  float root;            // 1 / sqrt(1 - second^step)
};

// Changes the states and the weights, and makes the gradient zero. LAMB changes
// the states only, and gives the squares of the weights' and of the update's
// length; `applyLamb` does the rest with their quotient.
struct Lengths {
  double weight, update;
};
Lengths update(const Stretch &stretch, const UpdateNumbers &numbers);
void applyLamb(const Stretch &stretch, const UpdateNumbers &numbers,
               double trust);

// The sum of the squares, added in eight sums by index modulo 8, in double.
double squareSum(const float *values, uint64_t count, uint64_t features);

} // namespace mille

// How a model is trained: the attribute `train` of transformer.model, a
// dictionary with the words of a native spec. Must not know who reads it.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

#include <string>
#include <vector>

namespace mille {

// The entries of a model that is trained, and inputs that they have beside
// those of the model: the id that each token should give, -100 where none
// counts, and what the losses of a run are multiplied by.
constexpr llvm::StringLiteral trainStepName = "train_step";
constexpr llvm::StringLiteral evaluateName = "eval";
constexpr llvm::StringLiteral labelsName = "labels";
constexpr llvm::StringLiteral maskName = "attention_mask"; // of the model
constexpr llvm::StringLiteral lossWeightName = "loss_weight";
constexpr llvm::StringLiteral lossesName = "losses"; // their output
// Where something depends on them: the number of the step from 0, and that of
// the run's first sequence in the batch.
constexpr llvm::StringLiteral stepName = "step";
constexpr llvm::StringLiteral firstSequenceName = "first_sequence";

// In the order of their words, and of MILLE_OPTIMIZER_* and MILLE_RATE_*.
enum class Optimizer { sgd, adam, adamw, lamb, lion };
enum class RateSchedule { constant, linear, cosine, inverse_sqrt };
// What compares a model's output to labels. `by_output`: squared errors where
// it has one channel, else cross-entropy.
enum class Loss {
  by_output,
  cross_entropy,
  mean_squared_error,
  binary_cross_entropy
};
constexpr llvm::StringLiteral lossWords =
    "by_output|cross_entropy|mean_squared_error|binary_cross_entropy";
constexpr llvm::StringLiteral optimizerWords = "sgd|adam|adamw|lamb|lion";
constexpr llvm::StringLiteral rateWords = "constant|linear|cosine|inverse_sqrt";

// Parameters whose names match a pattern (`*` stands for any text) and no
// pattern before it.
struct TrainingGroup {
  std::string match;
  double rate = 1; // a factor of the step's
  double decay = 0;
};

struct Training {
  Optimizer optimizer = Optimizer::adamw;
  RateSchedule schedule = RateSchedule::constant;
  Loss loss = Loss::by_output;
  double rate = 1e-3, endRate = 0;
  double momentum = 0; // of sgd
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double decay = 0, clip = 0;
  double smoothing = 0; // of labels
  double dropout = 0;   // the share of numbers that become 0
  double balance = 0;   // the factor of the loss that balances experts
  int64_t warmup = 0, steps = 0, accumulate = 1;
  std::vector<TrainingGroup> groups;

  // The most patterns that {a,b} in one may stand for.
  static constexpr size_t mostAlternatives = 64;
  // The number of a parameter's group; groups.size(): none.
  size_t groupOf(llvm::StringRef parameter) const;
};

// What is wrong with the numbers of a dropout; empty: nothing.
std::string dropoutProblem(double rate, int64_t seed, int64_t site,
                           int64_t after);

void setTraining(mlir::Operation *model, const Training &training);
// What the model says, or the defaults where it says nothing. Fails with an
// error on the model at an attribute that `setTraining` does not write.
mlir::FailureOr<Training> trainingOf(mlir::Operation *model);

} // namespace mille

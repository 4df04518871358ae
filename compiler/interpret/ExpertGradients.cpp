// Gradients of the router's logits and of the weights of experts' results.
// Must not choose experts: the forward pass has.
#include "compiler/interpret/Run.h"

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;
namespace tf = mille::transformer;

namespace {

void softmax(std::vector<double> &row) {
  double most = *llvm::max_element(row), sum = 0;
  for (double &number : row)
    sum += number = std::exp(number - most);
  for (double &number : row)
    number /= sum;
}

// The gradient of a softmax's input: p is its result, g becomes the answer.
void throughSoftmax(const std::vector<double> &p, std::vector<double> &g) {
  double mean = 0;
  for (auto [one, gradient] : llvm::zip_equal(p, g))
    mean += one * gradient;
  for (auto [one, gradient] : llvm::zip_equal(p, g))
    gradient = one * (gradient - mean);
}

// One row: `weights` has the gradients of the k weights, `logits` becomes the
// gradient of the logits.
void routeRow(tf::RouteGradientOp op, const double *weights,
              const double *experts, std::vector<double> &logits) {
  const int64_t k = op.getExperts().getType().getShape().back();
  const bool ofChosen = op.getSoftmaxChosen();
  std::vector<double> scores = logits, chosen;
  if (op.getScore() == tf::RouterScore::sigmoid)
    for (double &score : scores)
      score = 1 / (1 + std::exp(-score));
  else
    softmax(scores);
  for (int64_t i = 0; i < k; ++i)
    chosen.push_back((ofChosen ? logits : scores)[int64_t(experts[i])]);
  if (ofChosen)
    softmax(chosen);
  // weight = factor * chosen / sum, where they are renormalised
  double factor = op.getFactor().convertToDouble(), sum = 1, mean = 0;
  if (op.getRenormalised()) {
    sum = op.getEpsilon().convertToDouble();
    for (double one : chosen)
      sum += one;
    for (int64_t i = 0; i < k; ++i)
      mean += weights[i] * chosen[i] / sum;
  }
  std::vector<double> ofChosenScores;
  for (int64_t i = 0; i < k; ++i)
    ofChosenScores.push_back(factor * (weights[i] - mean) / sum);
  if (ofChosen)
    throughSoftmax(chosen, ofChosenScores);
  std::vector<double> gradient(logits.size(), 0.0);
  for (int64_t i = 0; i < k; ++i)
    gradient[int64_t(experts[i])] += ofChosenScores[i];
  if (!ofChosen && op.getScore() == tf::RouterScore::sigmoid)
    for (auto [score, g] : llvm::zip_equal(scores, gradient))
      g *= score * (1 - score);
  else if (!ofChosen)
    throughSoftmax(scores, gradient);
  logits = std::move(gradient);
}

} // namespace

Status mille::interpreter::runOp(Run &run, tf::RouteGradientOp op) {
  const Tensor &weights = run.at(op.getGradient());
  const Tensor &experts = run.at(op.getExperts());
  Tensor out = run.at(op.getLogits());
  int64_t entries = columnsOf(out), k = columnsOf(experts);
  for (Status s : {expectCount(op, "gradient", &weights, rowsOf(out) * k),
                   expectCount(op, "experts", &experts, rowsOf(out) * k)})
    if (failed(s))
      return s;
  for (int64_t m = 0; m < rowsOf(out); ++m) {
    double *row = &out.numbers[m * entries];
    std::vector<double> numbers(row, row + entries);
    routeRow(op, &weights.numbers[m * k], &experts.numbers[m * k], numbers);
    llvm::copy(numbers, row);
  }
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::SlotProductsOp op) {
  const Tensor &slots = run.at(op.getSlots()); // [batch, tokens, k, channels]
  const Tensor &row = run.at(op.getRow());     // [batch, tokens, channels]
  int64_t columns = columnsOf(slots), k = slots.shape[2];
  if (Status s = expectCount(op, "row", &row, slots.numbers.size() / k);
      failed(s))
    return s;
  Tensor out = zeros({slots.shape.begin(), slots.shape.end() - 1});
  for (int64_t slot = 0; slot < rowsOf(slots); ++slot)
    for (int64_t c = 0; c < columns; ++c)
      out.numbers[slot] += slots.numbers[slot * columns + c] *
                           row.numbers[slot / k * columns + c];
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

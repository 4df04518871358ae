// Gradients of the router's logits and of the weights of experts' results, and
// the loss that balances experts, in both dialects. Must not choose experts:
// the forward pass has.
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
template <typename Op>
void routeRow(Op op, int64_t k, const double *weights, const double *experts,
              std::vector<double> &logits) {
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

// Of each row the experts that it has chosen, and the softmax of its logits.
Tensor sharesOf(const Tensor &logits, const std::vector<double> &experts) {
  std::vector<int64_t> shape = logits.shape;
  shape.back() *= 2;
  Tensor out = zeros(std::move(shape));
  const int64_t entries = columnsOf(logits), rows = rowsOf(logits),
                k = rows ? int64_t(experts.size()) / rows : 0;
  for (int64_t m = 0; m < rows; ++m) {
    double *into = &out.numbers[m * 2 * entries];
    const double *from = &logits.numbers[m * entries];
    std::vector<double> p(from, from + entries);
    softmax(p);
    for (int64_t j = 0; j < k; ++j)
      into[int64_t(experts[m * k + j])] = 1;
    llvm::copy(p, into + entries);
  }
  return out;
}

Tensor sharesBack(const Tensor &gradient, const Tensor &logits) {
  Tensor out = logits;
  const int64_t entries = columnsOf(out);
  for (int64_t m = 0; m < rowsOf(out); ++m) {
    double *row = &out.numbers[m * entries];
    const double *from = &gradient.numbers[(m * 2 + 1) * entries];
    std::vector<double> p(row, row + entries), g(from, from + entries);
    softmax(p);
    throughSoftmax(p, g);
    llvm::copy(g, row);
  }
  return out;
}

// Adds to each row's loss, and sets the gradient of its shares.
void balance(const Tensor &shares, const Tensor *mask, int64_t k, double factor,
             Tensor &losses, Tensor &gradient) {
  const int64_t entries = columnsOf(shares) / 2, rows = rowsOf(shares);
  auto counts = [&](int64_t m) { return !mask || mask->numbers[m] != 0; };
  std::vector<double> chosen(entries, 0.0);
  double all = 0;
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t e = 0; e < entries && counts(m); ++e) {
      chosen[e] += shares.numbers[m * 2 * entries + e];
      all += shares.numbers[m * 2 * entries + e] / double(k);
    }
  gradient = zeros(shares.shape);
  for (int64_t m = 0; m < rows && all > 0; ++m)
    for (int64_t e = 0; e < entries && counts(m); ++e) {
      const int64_t at = (m * 2 + 1) * entries + e;
      const double share = chosen[e] / all;
      gradient.numbers[at] = factor * double(entries) * share / all;
      losses.numbers[m] += gradient.numbers[at] * shares.numbers[at];
    }
}

// The same of the operands of an op.
template <typename Op>
Status balanceOp(Run &run, Op op, mlir::Value losses, mlir::Value gradient) {
  const Tensor &shares = run.at(op.getShares());
  const Tensor *mask = op.getKeyMask() ? &run.at(op.getKeyMask()) : nullptr;
  Tensor total = run.at(op.getLosses()), back;
  for (Status s : {expectCount(op, "losses", &total, rowsOf(shares)),
                   expectCount(op, "key_mask", mask, rowsOf(shares))})
    if (failed(s))
      return s;
  balance(shares, mask, op.getK(), op.getFactor().convertToDouble(), total,
          back);
  run.set(losses, std::move(total));
  run.set(gradient, std::move(back));
  return Status::done;
}

template <typename Op> Status sharesBackOp(Run &run, Op op) {
  const Tensor &gradient = run.at(op.getGradient()),
               &logits = run.at(op.getLogits());
  if (Status s = expectCount(op, "gradient", &gradient,
                             2 * int64_t(logits.numbers.size()));
      failed(s))
    return s;
  run.set(op.getResult(), sharesBack(gradient, logits));
  return Status::done;
}

// Fails unless all of them are experts of the logits.
template <typename Op>
Status checkExperts(Op op, const Tensor &experts, const Tensor &logits) {
  for (double expert : experts.numbers)
    if (!(expert >= 0 && expert < double(columnsOf(logits)))) {
      op.emitError() << "experts names expert " << int64_t(expert) << " of "
                     << columnsOf(logits);
      return Status::input;
    }
  return Status::done;
}

// The gradient of all rows' logits.
template <typename Op>
Tensor routeRows(Op op, const Tensor &logits, const Tensor &gradient,
                 const std::vector<double> &experts) {
  Tensor out = logits;
  const int64_t entries = columnsOf(out), k = columnsOf(gradient);
  for (int64_t m = 0; m < rowsOf(out); ++m) {
    double *row = &out.numbers[m * entries];
    std::vector<double> numbers(row, row + entries);
    routeRow(op, k, &gradient.numbers[m * k], &experts[m * k], numbers);
    llvm::copy(numbers, row);
  }
  return out;
}

} // namespace

Status mille::interpreter::runOp(Run &run, tf::RouteGradientOp op) {
  const Tensor &logits = run.at(op.getLogits()),
               &experts = run.at(op.getExperts()),
               &gradient = run.at(op.getGradient());
  const int64_t slots = rowsOf(logits) * columnsOf(experts);
  for (Status s : {expectCount(op, "gradient", &gradient, slots),
                   expectCount(op, "experts", &experts, slots),
                   checkExperts(op, experts, logits)})
    if (failed(s))
      return s;
  run.set(op.getResult(), routeRows(op, logits, gradient, experts.numbers));
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

Status mille::interpreter::runOp(Run &run, tf::RouteSharesOp op) {
  const Tensor &logits = run.at(op.getLogits()),
               &experts = run.at(op.getExperts());
  const int64_t slots = rowsOf(logits) * columnsOf(experts);
  for (Status s : {expectCount(op, "experts", &experts, slots),
                   checkExperts(op, experts, logits)})
    if (failed(s))
      return s;
  run.set(op.getResult(), sharesOf(logits, experts.numbers));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::SharesGradientOp op) {
  return sharesBackOp(run, op);
}

Status mille::interpreter::runOp(Run &run, tf::BalanceLossOp op) {
  return balanceOp(run, op, op.getTotal(), op.getGradient());
}

//===-- kernel ------------------------------------------------------------===//

namespace {

// The expert of each sorted place.
std::vector<double> expertsOf(const Tensor &starts, int64_t places) {
  std::vector<double> experts;
  for (int64_t e = 0; e + 1 < int64_t(starts.numbers.size()); ++e)
    while (int64_t(experts.size()) < places &&
           double(experts.size()) < starts.numbers[e + 1])
      experts.push_back(e);
  experts.resize(places, double(starts.numbers.size()) - 2);
  return experts;
}

// The experts at these places.
std::vector<double> expertsAt(const Tensor &starts, const Tensor &place) {
  const std::vector<double> sorted = expertsOf(starts, place.numbers.size());
  std::vector<double> experts;
  for (double at : place.numbers)
    experts.push_back(sorted[int64_t(at)]);
  return experts;
}

Status checkPlaces(Operation *op, const Tensor &place, int64_t slots) {
  if (Status s = expectCount(op, "place", &place, slots); failed(s))
    return s;
  for (double at : place.numbers)
    if (!(at >= 0 && at < double(slots))) {
      op->emitError() << "place names row " << int64_t(at) << " of " << slots;
      return Status::input;
    }
  return Status::done;
}

} // namespace

Status mille::interpreter::runOp(Run &run, kernel::RouteGradientOp op) {
  const Tensor &logits = run.at(op.getLogits()), &place = run.at(op.getPlace()),
               &gradient = run.at(op.getGradient());
  const int64_t slots = rowsOf(logits) * columnsOf(gradient);
  for (Status s : {expectCount(op, "gradient", &gradient, slots),
                   checkPlaces(op, place, slots)})
    if (failed(s))
      return s;
  run.set(op.getResult(), routeRows(op, logits, gradient,
                                    expertsAt(run.at(op.getStarts()), place)));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::RouteSharesOp op) {
  const Tensor &logits = run.at(op.getLogits()), &place = run.at(op.getPlace());
  if (Status s = checkPlaces(op, place, rowsOf(logits) * int64_t(op.getK()));
      failed(s))
    return s;
  run.set(op.getResult(),
          sharesOf(logits, expertsAt(run.at(op.getStarts()), place)));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::SharesGradientOp op) {
  return sharesBackOp(run, op);
}

Status mille::interpreter::runOp(Run &run, kernel::BalanceLossOp op) {
  return balanceOp(run, op, op.getResults()[0], op.getResults()[1]);
}

Status mille::interpreter::runOp(Run &run, kernel::SlotProductsOp op) {
  const Tensor &slots = run.at(op.getSlots()), &row = run.at(op.getRow()),
               &place = run.at(op.getPlace());
  const int64_t columns = columnsOf(row),
                k = cast<ShapedType>(op.getOut().getType()).getShape().back();
  const int64_t all = rowsOf(row) * k;
  for (Status s : {expectCount(op, "slots", &slots, all * columns),
                   checkPlaces(op, place, all)})
    if (failed(s))
      return s;
  Tensor out = zeros({rowsOf(row), k});
  for (int64_t slot = 0; slot < all; ++slot)
    for (int64_t c = 0; c < columns; ++c)
      out.numbers[slot] +=
          slots.numbers[int64_t(place.numbers[slot]) * columns + c] *
          row.numbers[slot / k * columns + c];
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::ExpertsOp op) {
  const int64_t places = run.at(op.getOut()).numbers.size();
  Tensor out = zeros({places});
  out.integer = true;
  out.numbers = expertsOf(run.at(op.getStarts()), places);
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

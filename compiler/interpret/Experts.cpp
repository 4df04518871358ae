// Mixture of experts in both dialects: chooses the experts of each row, and
// moves rows to them and back. Must not compute their products, which are
// linears and matmuls.
#include "compiler/interpret/Routes.h"
#include "compiler/interpret/Run.h"

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;
namespace tf = mille::transformer;

namespace {

// The routing of one row, by the attributes that both dialects' route has.
class Router {
public:
  template <typename Op>
  Router(Op op, int64_t entries, const Tensor *bias)
      : entries(entries), k(op.getK()), groups(op.getGroups()),
        topGroups(op.getTopGroups()),
        sigmoid(op.getScore() == tf::RouterScore::sigmoid),
        bestTwo(op.getGroupScore() == tf::GroupScore::sum_top2),
        renormalised(op.getRenormalised()),
        softmaxChosen(op.getSoftmaxChosen()),
        epsilon(op.getEpsilon().convertToDouble()),
        factor(op.getFactor().convertToDouble()), bias(bias) {}

  // The k experts of a row of logits.
  std::vector<int64_t> best(const double *logits) const {
    std::vector<double> wanted = scoresOf(logits);
    for (int64_t e = 0; e < entries && bias; ++e)
      wanted[e] += bias->numbers[e];
    return largest(wanted, k, openEntries(wanted));
  }

  // Whether `chosen` are the k experts of a row, but for what the rounding of
  // its scores to f32 may turn.
  bool isFounded(const double *logits, ArrayRef<int64_t> chosen) const {
    double most = 0;
    for (int64_t e = 0; e < entries; ++e)
      most = std::max(most, std::fabs(logits[e]));
    std::vector<double> moved(logits, logits + entries);
    for (int64_t e = 0; e < entries; ++e)
      moved[e] += (llvm::is_contained(chosen, e) ? 1 : -1) * 0x1p-20 * most;
    return areSame(best(logits), chosen) || areSame(best(moved.data()), chosen);
  }

  static bool areSame(ArrayRef<int64_t> one, ArrayRef<int64_t> other) {
    return one.size() == other.size() &&
           std::is_permutation(one.begin(), one.end(), other.begin());
  }

  // The weights of a row's experts.
  void weigh(const double *logits, ArrayRef<int64_t> chosen,
             double *weights) const {
    const std::vector<double> scores = scoresOf(logits);
    std::vector<double> chosenWeights;
    for (int64_t e : chosen)
      chosenWeights.push_back(softmaxChosen ? logits[e] : scores[e]);
    if (softmaxChosen)
      softmax(chosenWeights);
    double sum = renormalised ? epsilon : 1.0;
    for (double weight : chosenWeights)
      sum += renormalised ? weight : 0.0;
    for (int64_t i = 0; i < k; ++i)
      weights[i] = chosenWeights[i] / sum * factor;
  }

private:
  std::vector<double> scoresOf(const double *logits) const {
    std::vector<double> scores(logits, logits + entries);
    if (sigmoid)
      for (double &score : scores)
        score = 1 / (1 + std::exp(-score));
    else
      softmax(scores);
    return scores;
  }

  static void softmax(std::vector<double> &row) {
    double most = *llvm::max_element(row), sum = 0;
    for (double &number : row)
      sum += number = std::exp(number - most);
    for (double &number : row)
      number /= sum;
  }

  // The indices of the `count` largest open entries, the largest first; among
  // equal entries the smaller index. A NaN counts as large as the first entry
  // it meets.
  static std::vector<int64_t> largest(const std::vector<double> &numbers,
                                      int64_t count, std::vector<bool> open) {
    std::vector<int64_t> chosen;
    while (int64_t(chosen.size()) < count) {
      int64_t best = -1;
      for (int64_t e = 0; e < int64_t(numbers.size()); ++e)
        if (open[e] && (best < 0 || numbers[e] > numbers[best]))
          best = e;
      open[best] = false;
      chosen.push_back(best);
    }
    return chosen;
  }

  // The entries of the groups that are taken.
  std::vector<bool> openEntries(const std::vector<double> &wanted) const {
    if (groups == 1)
      return std::vector<bool>(entries, true);
    int64_t size = entries / groups;
    std::vector<double> scores;
    for (int64_t g = 0; g < groups; ++g) {
      std::vector<double> group(wanted.begin() + g * size,
                                wanted.begin() + (g + 1) * size);
      int64_t summed = std::min<int64_t>(bestTwo ? 2 : 1, size);
      scores.push_back(0);
      for (int64_t e : largest(group, summed, std::vector<bool>(size, true)))
        scores.back() += group[e];
    }
    std::vector<bool> open(entries, false);
    for (int64_t g :
         largest(scores, topGroups, std::vector<bool>(groups, true)))
      std::fill_n(open.begin() + g * size, size, true);
    return open;
  }

  int64_t entries, k, groups, topGroups;
  bool sigmoid, bestTwo, renormalised, softmaxChosen;
  double epsilon, factor;
  const Tensor *bias; // [entries], or null
};

// The experts of a row, of the run that is followed if there is one.
std::vector<int64_t> chooseRow(const Router &router, Routing *routing,
                               const double *logits, int64_t row) {
  std::vector<int64_t> own = router.best(logits);
  if (!routing || !routing->given)
    return own;
  const size_t number = routing->made.size();
  const RoutedRows &given = (*routing->given)[number];
  const double *taken = &given.experts[row * given.k()];
  std::vector<int64_t> chosen(taken, taken + given.k());
  if (Router::areSame(own, chosen))
    return own;
  if (!router.isFounded(&given.logits[row * given.entries()], chosen)) {
    if (routing->unfounded++ == 0) {
      routing->route = int64_t(number);
      routing->row = row;
    }
    return own;
  }
  ++routing->followed;
  return chosen;
}

// experts and weights [rows, k] of logits [rows, entries].
void routeRows(Run &run, const Router &router, const Tensor &logits, int64_t k,
               Tensor &experts, Tensor &weights) {
  for (int64_t m = 0; m < rowsOf(logits); ++m) {
    const double *row = &logits.numbers[m * columnsOf(logits)];
    const std::vector<int64_t> chosen = chooseRow(router, run.routing, row, m);
    llvm::copy(chosen, &experts.numbers[m * k]);
    router.weigh(row, chosen, &weights.numbers[m * k]);
  }
  if (run.routing)
    run.routing->made.push_back(
        {logits.shape, logits.numbers, experts.numbers});
}

} // namespace

Status mille::interpreter::runOp(Run &run, tf::RouteOp op) {
  const Tensor &logits = run.at(op.getLogits());
  Tensor bias;
  if (op.getSelectionBiasAttr())
    if (Status s = run.parameter(op.getSelectionBiasAttr(), op.getLoc(), bias);
        failed(s))
      return s;
  int64_t k = op.getK();
  std::vector<int64_t> shape = logits.shape;
  shape.back() = k;
  Tensor experts = zeros(shape), weights = zeros(shape);
  experts.integer = true;
  routeRows(run,
            Router(op, columnsOf(logits),
                   op.getSelectionBiasAttr() ? &bias : nullptr),
            logits, k, experts, weights);
  run.set(op.getExperts(), std::move(experts));
  run.set(op.getWeights(), std::move(weights));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::DispatchOp op) {
  const Tensor &input = run.at(op.getInput());
  const Tensor &experts = run.at(op.getExperts());
  const Tensor *weights = run.find(op.getWeights());
  int64_t k = columnsOf(experts), columns = columnsOf(input);
  if (Status s = expectCount(op, "experts", &experts, rowsOf(input) * k);
      failed(s))
    return s;
  if (Status s = expectCount(op, "weights", weights, rowsOf(input) * k);
      failed(s))
    return s;
  std::vector<int64_t> shape = experts.shape;
  shape.push_back(columns);
  Tensor out = zeros(shape);
  for (int64_t slot = 0; slot < rowsOf(out); ++slot)
    for (int64_t c = 0; c < columns; ++c)
      out.numbers[slot * columns + c] =
          input.numbers[slot / k * columns + c] *
          (weights ? weights->numbers[slot] : 1.0);
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::CombineOp op) {
  const Tensor &input = run.at(op.getInput()); // [batch, tokens, k, channels]
  const Tensor *weights = run.find(op.getWeights());
  if (Status s = expectCount(op, "weights", weights, rowsOf(input)); failed(s))
    return s;
  int64_t columns = columnsOf(input), k = input.shape[input.shape.size() - 2];
  std::vector<int64_t> shape = input.shape;
  shape.erase(shape.end() - 2);
  Tensor out = zeros(shape);
  for (int64_t slot = 0; slot < rowsOf(input); ++slot)
    for (int64_t c = 0; c < columns; ++c)
      out.numbers[slot / k * columns + c] +=
          input.numbers[slot * columns + c] *
          (weights ? weights->numbers[slot] : 1.0);
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

//===-- kernel ------------------------------------------------------------===//

Status mille::interpreter::runOp(Run &run, kernel::RouteOp op) {
  const Tensor &logits = run.at(op.getLogits());
  int64_t rows = rowsOf(logits), entries = columnsOf(logits), k = op.getK();
  Tensor experts = zeros({rows, k}), weights = zeros({rows, k});
  routeRows(run, Router(op, entries, run.find(op.getSelectionBias())), logits,
            k, experts, weights);
  Tensor starts = zeros({entries + 1});
  for (double expert : experts.numbers)
    ++starts.numbers[int64_t(expert) + 1];
  for (int64_t e = 0; e < entries; ++e)
    starts.numbers[e + 1] += starts.numbers[e];
  Tensor order = zeros({rows * k}), place = zeros({rows * k});
  std::vector<double> next = starts.numbers;
  for (int64_t slot = 0; slot < rows * k; ++slot) {
    int64_t at = int64_t(next[int64_t(experts.numbers[slot])]++);
    order.numbers[at] = slot / k;
    place.numbers[slot] = at;
  }
  for (Tensor *indices : {&order, &place, &starts})
    indices->integer = true;
  Tensor *outcomes[] = {&weights, &order, &place, &starts};
  for (auto [result, tensor] : llvm::zip_equal(op.getOutcomes(), outcomes))
    run.set(result, std::move(*tensor));
  return Status::done;
}

namespace {

// Checks that every entry is the number of one of `rows` rows.
Status checkRows(Operation *op, StringRef name, const Tensor &indices,
                 int64_t rows) {
  for (double index : indices.numbers)
    if (!(index >= 0 && index < rows)) {
      op->emitError() << name << " names row " << int64_t(index) << " of "
                      << rows;
      return Status::input;
    }
  return Status::done;
}

} // namespace

Status mille::interpreter::runOp(Run &run, kernel::DispatchOp op) {
  const Tensor &input = run.at(op.getInput());
  const Tensor &order = run.at(op.getOrder()), &place = run.at(op.getPlace());
  const Tensor *weights = run.find(op.getWeights());
  int64_t k = op.getK(), columns = columnsOf(input), slots = rowsOf(input) * k;
  for (Status s : {expectCount(op, "order", &order, slots),
                   expectCount(op, "place", &place, slots),
                   expectCount(op, "weights", weights, slots),
                   checkRows(op, "order", order, rowsOf(input)),
                   checkRows(op, "place", place, slots)})
    if (failed(s))
      return s;
  std::vector<double> factors(slots, 1.0); // by place
  for (int64_t slot = 0; slot < slots && weights; ++slot)
    factors[int64_t(place.numbers[slot])] = weights->numbers[slot];
  Tensor out = zeros({slots, columns});
  for (int64_t p = 0; p < slots; ++p)
    for (int64_t c = 0; c < columns; ++c)
      out.numbers[p * columns + c] =
          input.numbers[int64_t(order.numbers[p]) * columns + c] * factors[p];
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::CombineOp op) {
  const Tensor &input = run.at(op.getInput()), &place = run.at(op.getPlace());
  const Tensor *weights = run.find(op.getWeights());
  int64_t k = op.getK(), columns = columnsOf(input), slots = rowsOf(input);
  for (Status s : {expectCount(op, "place", &place, slots),
                   expectCount(op, "weights", weights, slots),
                   checkRows(op, "place", place, slots)})
    if (failed(s))
      return s;
  Tensor out = zeros({slots / k, columns});
  for (int64_t slot = 0; slot < slots; ++slot)
    for (int64_t c = 0; c < columns; ++c)
      out.numbers[slot / k * columns + c] +=
          (weights ? weights->numbers[slot] : 1.0) *
          input.numbers[int64_t(place.numbers[slot]) * columns + c];
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

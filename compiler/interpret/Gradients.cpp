// The ops of a training step on tensors, by their formulas: the loss, gradients
// of row-wise ops, and what is saved between the passes. Gradients of linears
// and of attention are beside them.
#include "compiler/interpret/Run.h"
#include "dialects/transformer/Activation.h"

#include <limits>

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;
namespace tf = mille::transformer;

namespace {

// `of` gives the loss and its slope at (value, label).
template <typename Op, typename Of> Status numberLoss(Run &run, Op op, Of of) {
  Tensor gradient = run.at(op.getValues());
  const Tensor &labels = run.at(op.getLabels());
  const int64_t count = gradient.numbers.size();
  for (Status s : {expectCount(op, "labels", &labels, count),
                   expectCount(op, "weight", &run.at(op.getWeight()), 1)})
    if (failed(s))
      return s;
  const double weight = run.at(op.getWeight()).numbers.front();
  Tensor losses = zeros(gradient.shape);
  for (int64_t i = 0; i < count; ++i) {
    const auto [loss, slope] = of(gradient.numbers[i], labels.numbers[i]);
    losses.numbers[i] = weight * loss;
    gradient.numbers[i] = weight * slope;
  }
  run.set(op.getLosses(), std::move(losses));
  run.set(op.getGradient(), std::move(gradient));
  return Status::done;
}

} // namespace

Status mille::interpreter::runOp(Run &run, tf::SquaredErrorOp op) {
  return numberLoss(run, op, [](double x, double label) {
    return std::pair((x - label) * (x - label), 2 * (x - label));
  });
}

Status mille::interpreter::runOp(Run &run, tf::BinaryCrossEntropyOp op) {
  return numberLoss(run, op, [](double x, double label) {
    const double softplus =
        std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    return std::pair(softplus - label * x, 1 / (1 + std::exp(-x)) - label);
  });
}

Status mille::interpreter::runOp(Run &run, tf::CrossEntropyOp op) {
  const Tensor &logits = run.at(op.getLogits());
  const Tensor &labels = run.at(op.getLabels());
  int64_t rows = rowsOf(logits), columns = columnsOf(logits);
  for (Status s : {expectCount(op, "labels", &labels, rows),
                   expectCount(op, "weight", &run.at(op.getWeight()), 1)})
    if (failed(s))
      return s;
  double weight = run.at(op.getWeight()).numbers.front();
  double smoothing = op.getSmoothing().convertToDouble();
  Tensor losses = zeros(labels.shape), gradient = zeros(logits.shape);
  for (int64_t m = 0; m < rows; ++m) {
    const double *z = &logits.numbers[m * columns];
    int64_t label = int64_t(labels.numbers[m]);
    if (label == int64_t(op.getIgnore()))
      continue;
    if (label < 0 || label >= columns) {
      op.emitError() << "the label of row " << m << " is " << label
                     << " but there are " << columns << " classes";
      return Status::input;
    }
    double most = *std::max_element(z, z + columns), sum = 0, mean = 0;
    for (int64_t n = 0; n < columns; ++n) {
      sum += std::exp(z[n] - most);
      mean += (z[n] - most) / columns;
    }
    double log = std::log(sum); // log p[n] = z[n] - most - log
    losses.numbers[m] = -weight * ((1 - smoothing) * (z[label] - most - log) +
                                   smoothing * (mean - log));
    for (int64_t n = 0; n < columns; ++n)
      gradient.numbers[m * columns + n] =
          weight * (std::exp(z[n] - most - log) - smoothing / columns -
                    (n == label ? 1 - smoothing : 0));
  }
  run.set(op.getLosses(), std::move(losses));
  run.set(op.getGradient(), std::move(gradient));
  return Status::done;
}

namespace {

// One row of `n` numbers: `h` is the input and becomes the normed row, `q` the
// gradient of the normed row and becomes that of the input.
void normRowGradient(kernel::RowNormKind kind, double eps, double *h, double *q,
                     int64_t n) {
  using kernel::RowNormKind;
  double mean = 0, square = 0;
  for (int64_t i = 0; i < n && kind == RowNormKind::layer; ++i)
    mean += h[i] / n;
  for (int64_t i = 0; i < n; ++i)
    square += (h[i] - mean) * (h[i] - mean);
  double length = std::sqrt(square / n + eps);
  if (kind == RowNormKind::l2)
    length = std::max(std::sqrt(square), eps);
  double factor = length == 0 ? 0 : 1 / length;
  double product = 0, sum = 0; // <q, h> and the sum of q
  for (int64_t i = 0; i < n; ++i) {
    h[i] = (h[i] - mean) * factor;
    product += q[i] * h[i];
    sum += q[i];
  }
  const bool fixed = kind == RowNormKind::l2 && std::sqrt(square) < eps;
  double share = kind == RowNormKind::l2 ? 1.0 : 1.0 / n;
  for (int64_t i = 0; i < n; ++i) {
    double across = fixed ? 0 : h[i] * product * share;
    if (kind == RowNormKind::layer)
      across += sum * share;
    q[i] = factor * (q[i] - across);
  }
}

} // namespace

Status mille::interpreter::runOp(Run &run, tf::NormGradientOp op) {
  tf::NormAttr norm = op.getNorm();
  Tensor out = run.at(op.getGradient()), input = run.at(op.getInput());
  int64_t columns = columnsOf(input);
  if (Status s = expectCount(op, "gradient", &out, input.numbers.size());
      failed(s))
    return s;
  std::optional<kernel::RowNormKind> kind =
      kernel::rowNormKindOf(norm.getKind());
  Tensor weight;
  Tensor *toWeight = nullptr, *toBias = nullptr;
  if (norm.getWeight()) {
    if (Status s = run.parameter(norm.getWeight(), op.getLoc(), weight);
        failed(s))
      return s;
    if (!(toWeight = run.gradient(op, norm.getWeight())))
      return Status::input;
  }
  if (norm.getBias() && !(toBias = run.gradient(op, norm.getBias())))
    return Status::input;
  const std::vector<double> gradient = out.numbers;
  double plus = norm.getAffine() == tf::Affine::one_plus_weight ? 1.0 : 0.0;
  for (size_t i = 0; i < out.numbers.size() && toWeight; ++i)
    out.numbers[i] *=
        plus + weight.numbers[i % columns % weight.numbers.size()];
  int64_t group = norm.getGroup() ? norm.getGroup() : columns;
  for (size_t i = 0; i < out.numbers.size() && kind; i += group)
    normRowGradient(*kind, norm.getEps(), &input.numbers[i], &out.numbers[i],
                    group);
  for (size_t i = 0; i < gradient.size(); ++i) {
    if (toWeight)
      toWeight->numbers[i % columns % toWeight->numbers.size()] +=
          gradient[i] * input.numbers[i];
    if (toBias)
      toBias->numbers[i % columns % toBias->numbers.size()] += gradient[i];
  }
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::ActivateGradientOp op) {
  Tensor out = run.at(op.getGradient());
  const Tensor &input = run.at(op.getInput());
  const Tensor *up = run.find(op.getUp());
  for (Status s : {expectCount(op, "input", &input, out.numbers.size()),
                   expectCount(op, "up", up, out.numbers.size())})
    if (failed(s))
      return s;
  auto number = [](std::optional<APFloat> value) {
    return value ? value->convertToDouble() : 0.0;
  };
  double cap = number(op.getCap()), low = number(op.getLow()),
         high = number(op.getHigh());
  // f and f'
  auto at = [&](double x) -> std::pair<double, double> {
    if (op.getFunction())
      return {tf::activation(*op.getFunction(), x),
              activationSlope(*op.getFunction(), x)};
    if (op.getCap())
      return {softcap(cap, x), 1 - std::pow(std::tanh(x / cap), 2)};
    return {x < low ? low : x > high ? high : x, x > low && x < high ? 1 : 0};
  };
  Tensor toUp = up ? zeros(out.shape) : Tensor();
  double offset = op.getUpOffset().convertToDouble();
  for (size_t i = 0; i < out.numbers.size(); ++i) {
    auto [value, slope] = at(input.numbers[i]);
    if (up)
      toUp.numbers[i] = out.numbers[i] * value;
    out.numbers[i] *= slope * (up ? up->numbers[i] + offset : 1.0);
  }
  run.set(op.getResults().front(), std::move(out));
  if (up)
    run.set(op.getResults()[1], std::move(toUp));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::ScaleGradientOp op) {
  const Tensor &gradient = run.at(op.getGradient());
  const Tensor *input = run.find(op.getInput());
  if (Status s = expectCount(op, "input", input, gradient.numbers.size());
      failed(s))
    return s;
  Tensor *scale = run.gradient(op, op.getScaleAttr());
  if (!scale)
    return Status::input;
  for (size_t i = 0; i < gradient.numbers.size(); ++i)
    scale->numbers[i % scale->numbers.size()] +=
        gradient.numbers[i] * (input ? input->numbers[i] : 1.0);
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::EmbedGradientOp op) {
  const Tensor &gradient = run.at(op.getGradient());
  int64_t channels = columnsOf(gradient);
  for (auto [i, ids] : llvm::enumerate(op.getIds())) {
    const Tensor &indices = run.at(ids);
    if (Status s = expectCount(op, "ids", &indices, rowsOf(gradient));
        failed(s))
      return s;
    Tensor *table =
        run.gradient(op, cast<FlatSymbolRefAttr>(op.getTables()[i]));
    if (!table)
      return Status::input;
    double scale = i == 0 ? op.getScale().convertToDouble() : 1.0;
    for (auto [m, id] : llvm::enumerate(indices.numbers)) {
      int64_t row = int64_t(id) + op.getOffsets()[i]; // embed has checked it
      for (int64_t c = 0; c < channels; ++c)
        table->numbers[row * channels + c] +=
            scale * gradient.numbers[m * channels + c];
    }
  }
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::PoolGradientOp op) {
  const Tensor &gradient = run.at(op.getGradient()); // [batch, channels]
  Tensor out = zeros(run.at(op.getLike()).shape);
  const Tensor *mask = run.find(op.getKeyMask()), *ids = run.find(op.getIds());
  int64_t batch = out.shape[0], tokens = out.shape[1], channels = out.shape[2];
  for (Status s : {expectCount(op, "gradient", &gradient, batch * channels),
                   expectCount(op, "key_mask", mask, batch * tokens),
                   expectCount(op, "ids", ids, batch * tokens)})
    if (failed(s))
      return s;
  const bool isMean = op.getKind() == tf::Pool::mean;
  const Tensor *read = ids ? ids : mask;
  for (int64_t b = 0; b < batch; ++b) {
    const double *numbers = read ? &read->numbers[b * tokens] : nullptr;
    SmallVector<int64_t> taken;
    for (int64_t t = op.getSkip(); t < tokens && isMean; ++t)
      if (!numbers || numbers[t] != 0)
        taken.push_back(t);
    if (!isMean)
      taken.push_back(pooledToken(op.getKind(), numbers, tokens, op.getSkip(),
                                  int64_t(op.getId())));
    for (int64_t t : taken)
      for (int64_t c = 0; c < channels; ++c)
        out.numbers[(b * tokens + t) * channels + c] =
            gradient.numbers[b * channels + c] / double(taken.size());
  }
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::ConstantGradientOp op) {
  const Tensor &gradient = run.at(op.getGradient()); // [batch, n, channels]
  Tensor *value = run.gradient(op, op.getValueAttr());
  if (!value)
    return Status::input;
  for (auto [i, number] : llvm::enumerate(gradient.numbers))
    value->numbers[i % value->numbers.size()] += number;
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::CollectOp op) {
  const Tensor &value = run.at(op.getValue());
  Tensor &sum = run.collected[op.getName().str()];
  if (sum.numbers.empty())
    sum = zeros(value.shape);
  if (Status s = expectCount(op, "value", &value, sum.numbers.size());
      failed(s))
    return s;
  for (auto [into, number] : llvm::zip_equal(sum.numbers, value.numbers))
    into += number;
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::CollectedOp op) {
  auto sum = run.collected.find(op.getName().str());
  std::vector<int64_t> shape = run.at(op.getLike()).shape;
  shape.back() = op.getType().getShape().back();
  run.set(op.getResult(),
          sum == run.collected.end() ? zeros(shape) : sum->second);
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::SaveOp op) {
  int64_t layer = run.layer ? run.layer->index : 0;
  run.saved[op.getName().str()][layer] = run.at(op.getValue());
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::SavedOp op) {
  auto &layers = run.saved[op.getName().str()];
  auto found = layers.find(run.layer ? run.layer->index : 0);
  if (found == layers.end()) {
    op.emitError() << op.getNameAttr() << " was not saved in this layer";
    return Status::input;
  }
  run.set(op.getResult(), found->second);
  return Status::done;
}

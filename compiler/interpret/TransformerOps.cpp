// The row-wise ops of the `transformer` dialect on tensors, one function each.
// Residual units and layers are in Residual.cpp, attention in Attention.cpp.
#include "compiler/interpret/Run.h"

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;
namespace tf = mille::transformer;

double mille::interpreter::scheduled(double step, double from, double to,
                                     int64_t steps) {
  return from + (to - from) * std::min(step, double(steps)) / double(steps);
}

Status mille::interpreter::applyNorm(Run &run, tf::NormAttr norm, Location at,
                                     Tensor &tensor) {
  if (norm.getKind() == tf::NormKind::identity)
    return Status::done;
  RowNorm kind = norm.getKind() == tf::NormKind::layer_norm ? RowNorm::layer
                 : norm.getKind() == tf::NormKind::rms_norm ? RowNorm::rms
                                                            : RowNorm::l2;
  int64_t rows = rowsOf(tensor), columns = columnsOf(tensor);
  Tensor weight, bias;
  if (norm.getWeight())
    if (Status s = run.parameter(norm.getWeight(), at, weight); failed(s))
      return s;
  if (norm.getBias())
    if (Status s = run.parameter(norm.getBias(), at, bias); failed(s))
      return s;
  double plus = norm.getAffine() == tf::Affine::one_plus_weight ? 1.0 : 0.0;
  for (int64_t m = 0; m < rows; ++m) {
    double *row = &tensor.numbers[m * columns];
    normRow(kind, norm.getEps(), row, columns);
    for (int64_t n = 0; n < columns && norm.getWeight(); ++n)
      row[n] *= plus + weight.numbers[n];
    for (int64_t n = 0; n < columns && norm.getBias(); ++n)
      row[n] += bias.numbers[n];
  }
  return Status::done;
}

namespace {

// Rows of a table, each read once: a table may be far larger than what is read.
class Table {
public:
  Table(Run &run, tf::EmbedOp op, FlatSymbolRefAttr symbol)
      : run(run), op(op), symbol(symbol) {
    auto parameter =
        SymbolTable::lookupNearestSymbolFrom<tf::ParameterOp>(op, symbol);
    // Inside layers a table may be a column; then its extent is not known here.
    if (parameter)
      entries = cast<ShapedType>(parameter.getType()).getDimSize(0);
  }

  Status row(int64_t index, size_t position, const std::vector<double> *&into) {
    if (index < 0 || (entries && index >= entries)) {
      op.emitError() << "row " << index << " of table " << symbol
                     << " is read at position " << position << " but it has "
                     << entries << " rows";
      return Status::input;
    }
    Tensor &kept = rows[index];
    into = &kept.numbers;
    if (!kept.numbers.empty())
      return Status::done;
    auto one = tf::SliceAttr::get(op.getContext(), symbol, 0, index, 1, 1);
    return run.parameter(one, op.getLoc(), kept);
  }

private:
  Run &run;
  tf::EmbedOp op;
  FlatSymbolRefAttr symbol;
  int64_t entries = 0;
  std::map<int64_t, Tensor> rows;
};

} // namespace

Status mille::interpreter::runOp(Run &run, tf::EmbedOp op) {
  Tensor out = run.at(op.getIds().front());
  int64_t channels = op.getResult().getType().getShape().back();
  out.integer = false;
  out.shape.push_back(channels);
  out.numbers.assign(elementsOf(out.shape), 0.0);
  for (auto [i, ids] : llvm::enumerate(op.getIds())) {
    Table table(run, op, cast<FlatSymbolRefAttr>(op.getTables()[i]));
    double scale = i == 0 ? op.getScale().convertToDouble() : 1.0;
    for (auto [m, id] : llvm::enumerate(run.at(ids).numbers)) {
      const std::vector<double> *row; // [channels]
      if (Status s = table.row(int64_t(id) + op.getOffsets()[i], m, row);
          failed(s))
        return s;
      for (int64_t c = 0; c < channels; ++c)
        out.numbers[m * channels + c] += scale * (*row)[c];
    }
  }
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::NormOp op) {
  Tensor tensor = run.at(op.getInput());
  if (Status s = applyNorm(run, op.getNorm(), op.getLoc(), tensor); failed(s))
    return s;
  run.set(op.getResult(), std::move(tensor));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::LinearOp op) {
  Tensor weight, bias; // [out, in], [out]
  if (Status s = run.parameter(op.getWeightAttr(), op.getLoc(), weight);
      failed(s))
    return s;
  if (op.getBiasAttr())
    if (Status s = run.parameter(op.getBiasAttr(), op.getLoc(), bias);
        failed(s))
      return s;
  const Tensor &input = run.at(op.getInput());
  int64_t rows = rowsOf(input), columns = weight.shape[0];
  double scale = op.getScale().convertToDouble();
  Tensor out = input;
  out.shape.back() = columns;
  out.numbers.assign(rows * columns, 0.0);
  product(input.numbers.data(), weight.numbers.data(), out.numbers.data(), rows,
          weight.shape[1], columns);
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t n = 0; n < columns; ++n) {
      double &number = out.numbers[m * columns + n];
      number = number * scale + (op.getBiasAttr() ? bias.numbers[n] : 0.0);
    }
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::RotateOp op) {
  Tensor out = run.at(op.getInput());
  const Tensor &positions = run.at(op.getPositions());
  int64_t heads = op.getHeads(), headDim = op.getHeadDim();
  ArrayRef<double> frequencies = op.getFrequencies().value_or(ArrayRef<double>());
  int64_t pairs = frequencies.size();
  double factor = op.getAttentionFactor().convertToDouble();
  bool half = op.getPairing() == tf::Pairing::half;
  for (size_t m = 0; m < positions.numbers.size(); ++m)
    for (int64_t i = 0; i < pairs; ++i) {
      double angle = positions.numbers[m] * frequencies[i];
      double cosine = factor * std::cos(angle), sine = factor * std::sin(angle);
      for (int64_t h = 0; h < heads; ++h) {
        double *head = &out.numbers[(m * heads + h) * headDim];
        turn(head[half ? i : 2 * i], head[half ? i + pairs : 2 * i + 1], cosine,
             sine);
      }
    }
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::PositionBiasOp op) {
  const Tensor &positions = run.at(op.getPositions()); // [batch, tokens]
  int64_t batch = positions.shape[0], tokens = positions.shape[1];
  int64_t heads = op.getSlopes().size();
  Tensor out = zeros({batch, heads, tokens, tokens});
  double *next = out.numbers.data();
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < tokens; ++i)
        for (int64_t j = 0; j < tokens; ++j)
          *next++ = op.getSlopes()[h] * (positions.numbers[b * tokens + j] -
                                         positions.numbers[b * tokens + i]);
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::ActivateOp op) {
  Tensor out = run.at(op.getInput());
  for (double &number : out.numbers)
    number = activation(op.getFunction(), number);
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::GateOp op) {
  Tensor out = run.at(op.getGate());
  const Tensor &up = run.at(op.getUp());
  for (size_t i = 0; i < out.numbers.size(); ++i)
    out.numbers[i] =
        activation(op.getFunction(), out.numbers[i]) * up.numbers[i];
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::SoftcapOp op) {
  Tensor out = run.at(op.getInput());
  double cap = op.getCap().convertToDouble();
  for (double &number : out.numbers)
    number = softcap(cap, number);
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::PoolOp op) {
  const Tensor &input = run.at(op.getInput()); // [batch, tokens, channels]
  int64_t batch = input.shape[0], tokens = input.shape[1];
  int64_t channels = input.shape[2];
  auto valid = [&](int64_t b, int64_t t) {
    return !op.getKeyMask() ||
           run.at(op.getKeyMask()).numbers[b * tokens + t] != 0;
  };
  Tensor out = zeros({batch, channels});
  for (int64_t b = 0; b < batch; ++b) {
    int64_t last = 0, count = 0;
    for (int64_t t = 0; t < tokens; ++t)
      if (valid(b, t)) {
        last = t;
        ++count;
      }
    bool mean = op.getKind() == tf::Pool::mean;
    int64_t one = op.getKind() == tf::Pool::last ? last : 0;
    double *row = &out.numbers[b * channels];
    for (int64_t t = 0; t < tokens; ++t)
      for (int64_t c = 0; c < channels && (mean ? valid(b, t) : t == one); ++c)
        row[c] += input.numbers[(b * tokens + t) * channels + c];
    for (int64_t c = 0; c < channels && mean && count; ++c)
      row[c] /= count;
  }
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::KeepOp op) {
  run.keep(op.getName(), op.getIndex(), run.at(op.getInput()));
  return Status::done;
}

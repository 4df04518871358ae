// The row-wise ops of the `transformer` dialect on tensors, one function each.
// Linears, attention, experts, tokens and residual units have files of their
// own.
#include "compiler/interpret/Run.h"
#include "dialects/transformer/Activation.h"

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
  std::optional<kernel::RowNormKind> kind =
      kernel::rowNormKindOf(norm.getKind());
  if (!kind)
    return Status::done;
  int64_t rows = rowsOf(tensor), columns = columnsOf(tensor);
  Tensor weight, bias;
  if (norm.getWeight())
    if (Status s = run.parameter(norm.getWeight(), at, weight); failed(s))
      return s;
  if (norm.getBias())
    if (Status s = run.parameter(norm.getBias(), at, bias); failed(s))
      return s;
  double plus = norm.getAffine() == tf::Affine::one_plus_weight ? 1.0 : 0.0;
  int64_t group = norm.getGroup() ? norm.getGroup() : columns;
  for (int64_t m = 0; m < rows; ++m) {
    double *row = &tensor.numbers[m * columns];
    for (int64_t first = 0; first < columns; first += group)
      normRow(*kind, norm.getEps(), row + first, group);
    // Weight and bias are [columns], or [group] and shared by the groups.
    for (int64_t n = 0; n < columns && norm.getWeight(); ++n)
      row[n] *= plus + weight.numbers[n % weight.numbers.size()];
    for (int64_t n = 0; n < columns && norm.getBias(); ++n)
      row[n] += bias.numbers[n % bias.numbers.size()];
  }
  return Status::done;
}

namespace {

// Reads rows of a table, each once. A table that is no larger than the rows to
// read is read whole, since an expression may cost as much for a single row.
class Table {
public:
  Table(Run &run, tf::EmbedOp op, FlatSymbolRefAttr symbol, int64_t reads)
      : run(run), op(op), symbol(symbol) {
    auto parameter =
        SymbolTable::lookupNearestSymbolFrom<tf::ParameterOp>(op, symbol);
    // Inside layers a table may be a column; then its extent is not known here.
    if (parameter)
      entries = cast<ShapedType>(parameter.getType()).getDimSize(0);
    isWhole = entries && entries <= reads;
  }

  // Points `into` at row `index`, [channels].
  Status row(int64_t index, size_t position, const double *&into) {
    if (index < 0 || (entries && index >= entries)) {
      op.emitError() << "row " << index << " of table " << symbol
                     << " is read at position " << position << " but it has "
                     << entries << " rows";
      return Status::input;
    }
    Tensor &kept = rows[isWhole ? 0 : index];
    if (kept.numbers.empty())
      if (Status s = read(index, kept); failed(s))
        return s;
    into = kept.numbers.data() + (isWhole ? index * columnsOf(kept) : 0);
    return Status::done;
  }

private:
  Status read(int64_t index, Tensor &into) {
    if (isWhole)
      return run.parameter(symbol, op.getLoc(), into);
    auto one = tf::SliceAttr::get(op.getContext(), symbol, 0, index, 1, 1);
    return run.parameter(one, op.getLoc(), into);
  }

  Run &run;
  tf::EmbedOp op;
  FlatSymbolRefAttr symbol;
  int64_t entries = 0;
  bool isWhole;
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
    const Tensor &indices = run.at(ids);
    Table table(run, op, cast<FlatSymbolRefAttr>(op.getTables()[i]),
                indices.numbers.size());
    double scale = i == 0 ? op.getScale().convertToDouble() : 1.0;
    for (auto [m, id] : llvm::enumerate(indices.numbers)) {
      const double *row; // [channels]
      if (Status s = table.row(int64_t(id) + op.getOffsets()[i], m, row);
          failed(s))
        return s;
      for (int64_t c = 0; c < channels; ++c)
        out.numbers[m * channels + c] += scale * row[c];
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

Status mille::interpreter::runOp(Run &run, tf::AddOp op) {
  Tensor out = run.at(op.getLeft());
  const Tensor &right = run.at(op.getRight());
  if (Status s = expectCount(op, "right", &right, out.numbers.size());
      failed(s))
    return s;
  for (size_t i = 0; i < out.numbers.size(); ++i)
    out.numbers[i] += right.numbers[i];
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::AffineOp op) {
  std::vector<double> scale, shift; // [1] or [channels]
  if (Status s = scaleNumbers(run, op.getScaleAttr(), 1.0, op.getLoc(), scale);
      failed(s))
    return s;
  if (Status s = scaleNumbers(run, op.getShiftAttr(), 0.0, op.getLoc(), shift);
      failed(s))
    return s;
  Tensor out = run.at(op.getInput());
  for (size_t i = 0; i < out.numbers.size(); ++i)
    out.numbers[i] =
        scale[i % scale.size()] * out.numbers[i] + shift[i % shift.size()];
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::ClampOp op) {
  Tensor out = run.at(op.getInput());
  double low = op.getLow().convertToDouble();
  double high = op.getHigh().convertToDouble();
  for (double &number : out.numbers) // a NaN stays one
    number = number < low ? low : number > high ? high : number;
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::ActivateOp op) {
  Tensor out = run.at(op.getInput());
  for (double &number : out.numbers)
    number = tf::activation(op.getFunction(), number);
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::GateOp op) {
  Tensor out = run.at(op.getGate());
  const Tensor &up = run.at(op.getUp());
  double offset = op.getUpOffset().convertToDouble();
  if (Status s = expectCount(op, "up", &up, out.numbers.size()); failed(s))
    return s;
  for (size_t i = 0; i < out.numbers.size(); ++i)
    out.numbers[i] = tf::activation(op.getFunction(), out.numbers[i]) *
                     (up.numbers[i] + offset);
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

Status mille::interpreter::runOp(Run &run, tf::KeepOp op) {
  run.keep(op.getName(), op.getIndex(), run.at(op.getInput()));
  return Status::done;
}

// `linear`, plain and with a weight per expert: of a stack only the entries
// that rows take are read, one at a time.
#include "compiler/interpret/Run.h"

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;
namespace tf = mille::transformer;

namespace {

// The rows of an input that one weight multiplies, and the same rows of `out`.
class Product {
public:
  Product(const Tensor &input, ArrayRef<int64_t> rows,
          const std::vector<double> &bias, double scale, Tensor &out)
      : rows(rows), bias(bias), scale(scale), out(out), inner(columnsOf(input)),
        taken(rows.size() * inner) {
    for (auto [i, row] : llvm::enumerate(rows))
      std::copy_n(&input.numbers[row * inner], inner, &taken[i * inner]);
  }

  // input * weight^T * scale + bias for the rows of a weight from `first` on,
  // which are columns of `out`.
  void multiply(int64_t first, ArrayRef<double> weight) {
    int64_t count = int64_t(weight.size()) / inner, columns = columnsOf(out);
    sums.resize(rows.size() * count);
    product(taken.data(), weight.data(), sums.data(), rows.size(), inner,
            count);
    for (auto [i, row] : llvm::enumerate(rows))
      for (int64_t n = 0; n < count; ++n)
        out.numbers[row * columns + first + n] =
            sums[i * count + n] * scale +
            (bias.empty() ? 0.0 : bias[first + n]);
  }

private:
  ArrayRef<int64_t> rows;
  const std::vector<double> &bias;
  double scale;
  Tensor &out;
  int64_t inner;
  std::vector<double> taken, sums;
};

// [in, out] of [out, in]: so a transposed linear is a linear.
Tensor transposed(const Tensor &weight) {
  int64_t columns = columnsOf(weight), rows = rowsOf(weight);
  Tensor turned = zeros({columns, rows});
  for (int64_t n = 0; n < rows; ++n)
    for (int64_t k = 0; k < columns; ++k)
      turned.numbers[k * rows + n] = weight.numbers[n * columns + k];
  return turned;
}

Status readEntry(Run &run, tf::LinearOp op, FlatSymbolRefAttr stack, int64_t e,
                 Tensor &entry) {
  auto one = tf::SliceAttr::get(op.getContext(), stack, 0, e, 1, 1);
  return run.parameter(one, op.getLoc(), entry);
}

Status runExperts(Run &run, tf::LinearOp op, Tensor &out) {
  const Tensor &input = run.at(op.getInput());
  const Tensor &experts = run.at(op.getExperts());
  if (Status s = expectCount(op, "experts", &experts, rowsOf(input)); failed(s))
    return s;
  std::map<int64_t, SmallVector<int64_t>> rows; // of each expert
  for (auto [m, expert] : llvm::enumerate(experts.numbers))
    rows[int64_t(expert)].push_back(m);
  for (auto &[expert, mine] : rows) {
    Tensor weight, bias;
    if (Status s = readEntry(run, op, op.getWeightAttr(), expert, weight);
        failed(s))
      return s;
    if (op.getBiasAttr())
      if (Status s = readEntry(run, op, op.getBiasAttr(), expert, bias);
          failed(s))
        return s;
    if (op.getTransposed())
      weight = transposed(weight);
    Product(input, mine, bias.numbers, op.getScale().convertToDouble(), out)
        .multiply(0, weight.numbers);
  }
  return Status::done;
}

} // namespace

namespace {

// into[n, k] += scale * sum over rows of gradient[m, n] * input[m, k].
void addProducts(const Tensor &gradient, const Tensor &input,
                 ArrayRef<int64_t> rows, double scale, double *into) {
  int64_t columns = columnsOf(gradient), inner = columnsOf(input);
  for (int64_t m : rows)
    for (int64_t n = 0; n < columns; ++n) {
      double factor = scale * gradient.numbers[m * columns + n];
      const double *x = &input.numbers[m * inner];
      for (int64_t k = 0; k < inner; ++k)
        into[n * inner + k] += factor * x[k];
    }
}

// Without the columns of rows of the weight that fixed_rows names.
Tensor moving(Tensor gradient, ArrayRef<int64_t> fixed) {
  for (auto [i, number] : llvm::enumerate(gradient.numbers)) {
    const int64_t place = i % columnsOf(gradient) % fixed[0] - fixed[1];
    if (place >= 0 && place < fixed[2])
      number = 0;
  }
  return gradient;
}

void addRows(const Tensor &gradient, ArrayRef<int64_t> rows, double *into) {
  int64_t columns = columnsOf(gradient);
  for (int64_t m : rows)
    for (int64_t n = 0; n < columns; ++n)
      into[n] += gradient.numbers[m * columns + n];
}

} // namespace

Status mille::interpreter::runOp(Run &run, tf::WeightGradientOp op) {
  const Tensor &gradient = run.at(op.getGradient());
  const Tensor &input = run.at(op.getInput());
  const Tensor *experts = run.find(op.getExperts());
  int64_t columns = columnsOf(gradient), inner = columnsOf(input);
  for (Status s :
       {expectCount(op, "gradient", &gradient, rowsOf(input) * columns),
        expectCount(op, "experts", experts, rowsOf(input))})
    if (failed(s))
      return s;
  Tensor *weight = run.gradient(op, op.getWeightAttr());
  Tensor *bias =
      op.getBiasAttr() ? run.gradient(op, op.getBiasAttr()) : nullptr;
  if (!weight || (op.getBiasAttr() && !bias))
    return Status::input;
  std::optional<ArrayRef<int64_t>> fixed = op.getFixedRows();
  std::map<int64_t, SmallVector<int64_t>> rows; // of each entry
  for (int64_t m = 0; m < rowsOf(input); ++m)
    rows[experts ? int64_t(experts->numbers[m]) : 0].push_back(m);
  for (auto &[entry, mine] : rows) {
    addProducts(fixed ? moving(gradient, *fixed) : gradient, input, mine,
                op.getScale().convertToDouble(),
                &weight->numbers[entry * columns * inner]);
    if (bias)
      addRows(gradient, mine, &bias->numbers[entry * columns]);
  }
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::LinearOp op) {
  const Tensor &input = run.at(op.getInput());
  std::vector<int64_t> shape = input.shape;
  shape.back() = op.getResult().getType().getShape().back();
  Tensor out = zeros(shape);
  if (op.getExperts()) {
    Status status = runExperts(run, op, out);
    run.set(op.getResult(), std::move(out));
    return status;
  }
  Tensor weight, bias; // [out, in], [out]
  if (op.getBiasAttr())
    if (Status s = run.parameter(op.getBiasAttr(), op.getLoc(), bias);
        failed(s))
      return s;
  const auto rows = llvm::to_vector(llvm::seq(rowsOf(input)));
  Product product(input, rows, bias.numbers, op.getScale().convertToDouble(),
                  out);
  auto multiply = [&](int64_t first, ArrayRef<double> numbers) {
    product.multiply(first, numbers);
  };
  Status status;
  if (op.getTransposed()) {
    status = run.parameter(op.getWeightAttr(), op.getLoc(), weight);
    if (!failed(status))
      multiply(0, transposed(weight).numbers);
  } else {
    status = run.parameterRows(op.getWeightAttr(), op.getLoc(), multiply);
  }
  run.set(op.getResult(), std::move(out));
  return status;
}

Status mille::interpreter::runOp(Run &run, tf::LinearByHeadOp op) {
  const Tensor &input = run.at(op.getInput());
  Tensor weight; // [heads, out, in]
  if (Status s = run.parameter(op.getWeightAttr(), op.getLoc(), weight);
      failed(s))
    return s;
  std::vector<int64_t> shape = input.shape;
  shape.back() = op.getResult().getType().getShape().back();
  Tensor out = zeros(shape);
  const int64_t heads = op.getHeads();
  productByHead(input.numbers.data(), weight.numbers.data(), out.numbers.data(),
                rowsOf(input), heads, columnsOf(input) / heads,
                columnsOf(out) / heads);
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

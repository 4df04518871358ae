// `linear`, plain and with a weight per expert: of a stack only the entries
// that rows take are read, one at a time.
#include "compiler/interpret/Run.h"

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;
namespace tf = mille::transformer;

namespace {

// input[rows] * weight^T * scale + bias, at the same rows of `out`.
void applyLinear(const Tensor &input, ArrayRef<int64_t> rows,
                 const Tensor &weight, const std::vector<double> &bias,
                 double scale, Tensor &out) {
  int64_t inner = columnsOf(input), columns = columnsOf(out);
  std::vector<double> taken(rows.size() * inner), sums(rows.size() * columns);
  for (auto [i, row] : llvm::enumerate(rows))
    std::copy_n(&input.numbers[row * inner], inner, &taken[i * inner]);
  product(taken.data(), weight.numbers.data(), sums.data(), rows.size(), inner,
          columns);
  for (auto [i, row] : llvm::enumerate(rows))
    for (int64_t n = 0; n < columns; ++n)
      out.numbers[row * columns + n] =
          sums[i * columns + n] * scale + (bias.empty() ? 0.0 : bias[n]);
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
    applyLinear(input, mine, weight, bias.numbers,
                op.getScale().convertToDouble(), out);
  }
  return Status::done;
}

} // namespace

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
  if (Status s = run.parameter(op.getWeightAttr(), op.getLoc(), weight);
      failed(s))
    return s;
  if (op.getBiasAttr())
    if (Status s = run.parameter(op.getBiasAttr(), op.getLoc(), bias);
        failed(s))
      return s;
  applyLinear(input, llvm::to_vector(llvm::seq(rowsOf(input))), weight,
              bias.numbers, op.getScale().convertToDouble(), out);
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

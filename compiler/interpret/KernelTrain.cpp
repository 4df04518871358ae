// Interprets the kernels of a training step on tensors, with one function per
// op. Must stay plain: sums run over rows in order.
#include "compiler/interpret/RowReaders.h"
#include "compiler/interpret/ScalarRegion.h"
#include "compiler/interpret/Spans.h"
#include "dialects/kernel/Backward.h"
#include "dialects/transformer/Panels.h"

#include <cmath>

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;

namespace {

Status expectRows(Operation *op, StringRef name, const Tensor &tensor,
                  int64_t rows) {
  if (rowsOf(tensor) == rows)
    return Status::done;
  op->emitError() << name << " has " << rowsOf(tensor) << " rows but must have "
                  << rows;
  return Status::input;
}

} // namespace

Status mille::interpreter::runOp(Run &run, kernel::WeightGradientOp op) {
  const Tensor &gradient = run.at(op.getGradient()),
               &input = run.at(op.getInput());
  Tensor out = run.at(op.getOut());
  const int64_t rows = rowsOf(gradient), N = columnsOf(gradient),
                K = columnsOf(input);
  SmallVector<Span> spans;
  for (Status s :
       {expectRows(op, "input", input, rows),
        readSpans(run, op, op.getStarts(), out.shape[0], rows, spans)})
    if (failed(s))
      return s;
  for (const Span &span : spans)
    for (int64_t m = span.begin; m < span.end; ++m)
      for (int64_t n = 0; n < N; ++n)
        for (int64_t k = 0; k < K; ++k)
          out.numbers[(span.entry * N + n) * K + k] +=
              gradient.numbers[m * N + n] * input.numbers[m * K + k];
  setGradient(run, op.getOut(), out);
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::ColumnSumsOp op) {
  Tensor out = run.at(op.getOut());
  const Tensor &first = run.at(op.getInputs()[0]);
  const int64_t columns = columnsOf(first), rows = rowsOf(first),
                numbers = out.numbers.size();
  RowReaders inputs(rows, columns);
  for (mlir::Value input : op.getInputs())
    if (Status s = inputs.add(run, op, input, nullptr); failed(s))
      return s;
  ScalarRegion body;
  body.read(op.getBody());
  std::vector<double> terms(columns);
  for (int64_t m = 0; m < rows; ++m) {
    std::vector<const double *> arguments;
    inputs.append(m, arguments);
    body.run(arguments, columns, terms.data());
    for (int64_t n = 0; n < columns; ++n)
      out.numbers[op.getTo() ? (*op.getTo())[n] : n % numbers] += terms[n];
  }
  setGradient(run, op.getOut(), out);
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::EmbedGradientOp op) {
  const Tensor &gradient = run.at(op.getGradient()), &ids = run.at(op.getIds());
  Tensor out = run.at(op.getOut());
  const int64_t rows = rowsOf(gradient), columns = columnsOf(gradient);
  if (Status s = expectCount(op, "ids", &ids, rows); failed(s))
    return s;
  for (int64_t m = 0; m < rows; ++m) {
    const int64_t id =
        std::clamp<int64_t>(int64_t(ids.numbers[m]), 0, rowsOf(out) - 1);
    for (int64_t n = 0; n < columns; ++n)
      out.numbers[id * columns + n] += gradient.numbers[m * columns + n];
  }
  setGradient(run, op.getOut(), out);
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::PairSumsOp op) {
  const Tensor &gradient = run.at(op.getGradient());
  Tensor out = run.at(op.getOut());
  const int64_t tokens = kernel::tokensOfPairs(op.getIndex().size()),
                heads = columnsOf(out);
  if (rowsOf(gradient) % tokens) {
    op.emitError() << "gradient has " << rowsOf(gradient)
                   << " rows but sequences have " << tokens;
    return Status::input;
  }
  for (int64_t m = 0; m < rowsOf(gradient); ++m)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t j = 0; j < tokens; ++j)
        out.numbers[op.getIndex()[m % tokens * tokens + j] * heads + h] +=
            gradient.numbers[(m * heads + h) * tokens + j];
  setGradient(run, op.getOut(), out);
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

namespace {

// The gradient of the input of a norm of n numbers, of which `normed` is the
// result. q is the gradient of that result, and becomes the input's.
void normBackward(kernel::RowNormAttr norm, const double *input,
                  const double *normed, double *q, int64_t n) {
  using kernel::RowNormKind;
  double sum = 0, product = 0, mean = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum += q[i];
    product += q[i] * normed[i];
    mean += input[i];
  }
  const bool layer = norm.getKind() == RowNormKind::layer,
             l2 = norm.getKind() == RowNormKind::l2;
  mean = layer ? mean / double(n) : 0;
  for (int64_t i = 0; i < n; ++i)
    squares += (input[i] - mean) * (input[i] - mean);
  const double eps = norm.getEps(), length = std::sqrt(squares);
  double scale =
      l2 ? 1 / std::max(length, eps) : 1 / std::sqrt(squares / double(n) + eps);
  if (l2 && length == 0 && eps == 0)
    scale = 0; // as normRow leaves a row of zeros
  sum = layer ? sum / double(n) : 0;
  product = !l2 ? product / double(n) : length > eps ? product : 0;
  for (int64_t i = 0; i < n; ++i)
    q[i] = scale * (q[i] - sum - normed[i] * product);
}

} // namespace

Status mille::interpreter::runOp(Run &run, kernel::NormBackwardOp op) {
  const Tensor &input = run.at(op.getInput());
  Tensor gradient = run.at(op.getGradient()), normed = input;
  const int64_t rows = rowsOf(gradient), columns = columnsOf(gradient);
  if (Status s = expectRows(op, "input", input, rows); failed(s))
    return s;
  const Tensor *weight = run.find(op.getWeight());
  const int64_t group =
      op.getNorm().getGroup() ? op.getNorm().getGroup() : columns;
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t first = 0; first < columns; first += group) {
      const int64_t at = m * columns + first;
      for (int64_t i = 0; weight && i < group; ++i)
        gradient.numbers[at + i] *= weight->numbers[first + i];
      normRow(op.getNorm().getKind(), op.getNorm().getEps(),
              &normed.numbers[at], group);
      normBackward(op.getNorm(), &input.numbers[at], &normed.numbers[at],
                   &gradient.numbers[at], group);
    }
  if (op.getOuts().size() > 1)
    run.set(op.getResults()[1], std::move(normed));
  run.set(op.getResults()[0], std::move(gradient));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::CrossEntropyOp op) {
  const Tensor &logits = run.at(op.getLogits()),
               &labels = run.at(op.getLabels());
  const int64_t rows = rowsOf(logits), columns = columnsOf(logits);
  if (Status s = expectCount(op, "labels", &labels, rows); failed(s))
    return s;
  const double times = run.at(op.getTimes()).numbers.at(0),
               smoothing = op.getSmoothing().convertToDouble();
  Tensor losses = zeros({rows, 1}), gradient = zeros({rows, columns});
  for (int64_t m = 0; m < rows; ++m) {
    if (labels.numbers[m] < 0)
      continue;
    const int64_t label = std::min(int64_t(labels.numbers[m]), columns - 1);
    const double *row = &logits.numbers[m * columns];
    const double largest = *std::max_element(row, row + columns);
    double sum = 0;
    for (int64_t n = 0; n < columns; ++n)
      sum += std::exp(row[n] - largest);
    for (int64_t n = 0; n < columns; ++n) {
      const double logarithm = row[n] - largest - std::log(sum);
      const double target =
          smoothing / double(columns) + (n == label ? 1 - smoothing : 0);
      losses.numbers[m] -= times * target * logarithm;
      gradient.numbers[m * columns + n] =
          times * (std::exp(logarithm) - target);
    }
  }
  run.set(op.getResults()[0], std::move(losses));
  run.set(op.getResults()[1], std::move(gradient));
  return Status::done;
}

namespace {

// Packs a matrix [rows, columns] of numbers into what the op's outs is, or into
// an entry of it where that is a stack.
void packMatrix(kernel::PackOp op, const double *weight, int64_t rows,
                int64_t columns, double *out) {
  auto type = cast<ShapedType>(op.getOut().getType());
  ArrayRef<int64_t> shape = type.getShape();
  if (op.getStarts())
    shape = shape.drop_front();
  for (int64_t n = 0; n < rows; ++n)
    for (int64_t k = 0; k < columns; ++k) {
      auto [row, step] = op.getTransposed() ? std::pair(k, n) : std::pair(n, k);
      const int64_t steps = op.getTransposed() ? rows : columns;
      const double number = weight[n * columns + k];
      if (shape.size() != 3) {
        out[row * steps + step] = number;
        continue;
      }
      const int64_t group = type.getElementType().isBF16() ? 2 : 1,
                    panel = shape[2] / group;
      const int64_t line = row / panel * shape[1] + step / group;
      out[(line * panel + row % panel) * group + step % group] = number;
    }
}

} // namespace

Status mille::interpreter::runOp(Run &run, kernel::PackOp op) {
  const Tensor &weight = run.at(op.getWeight());
  auto type = cast<ShapedType>(op.getOut().getType());
  Tensor out = zeros({type.getShape().begin(), type.getShape().end()});
  const int64_t entries = op.getStarts() ? weight.shape[0] : 1;
  const int64_t columns = columnsOf(weight), rows = rowsOf(weight) / entries;
  for (int64_t e = 0; e < entries; ++e)
    packMatrix(op, &weight.numbers[e * rows * columns], rows, columns,
               &out.numbers[e * (out.numbers.size() / entries)]);
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

namespace {

// The numbers of a row.
int64_t widthOf(mlir::Value rows) {
  auto type = cast<ShapedType>(rows.getType());
  return type.getRank() == 1 ? 1 : type.getDimSize(1);
}

// Rows first to first + count - 1.
Tensor rowsOfBlock(Run &run, mlir::Value rows, int64_t first, int64_t count) {
  const Tensor &whole = run.at(rows);
  const int64_t width = widthOf(rows);
  Tensor block;
  block.integer = whole.integer;
  block.shape = {count};
  if (cast<ShapedType>(rows.getType()).getRank() == 2)
    block.shape.push_back(width);
  block.numbers.assign(whole.numbers.begin() + first * width,
                       whole.numbers.begin() + (first + count) * width);
  return block;
}

} // namespace

Status mille::interpreter::runOp(Run &run, kernel::RowBlocksOp op) {
  Block &body = op.getBody().front();
  int64_t rows = -1;
  for (mlir::Value input : op.getInputs()) {
    const int64_t own = run.at(input).numbers.size() / widthOf(input);
    if (rows >= 0 && own != rows) {
      op.emitError() << "an input has " << own << " rows but another has "
                     << rows;
      return Status::input;
    }
    rows = own;
  }
  std::vector<Tensor> results(op.getResults().size());
  for (int64_t first = 0; first < rows; first += op.getRows()) {
    const int64_t count = std::min<int64_t>(op.getRows(), rows - first);
    Tensor size = zeros({1});
    size.numbers = {double(count)};
    run.set(body.getArgument(0), std::move(size));
    for (auto [input, argument] :
         llvm::zip_equal(op.getInputs(), body.getArguments().drop_front()))
      run.set(argument, rowsOfBlock(run, input, first, count));
    if (Status s = runBlock(run, body); failed(s))
      return s;
    for (auto [result, yielded] :
         llvm::zip_equal(results, body.getTerminator()->getOperands()))
      llvm::append_range(result.numbers, run.at(yielded).numbers);
  }
  for (auto [value, tensor] : llvm::zip_equal(op.getResults(), results)) {
    tensor.shape = {rows};
    if (cast<ShapedType>(value.getType()).getRank() == 2)
      tensor.shape.push_back(widthOf(value));
    run.set(value, std::move(tensor));
  }
  return Status::done;
}

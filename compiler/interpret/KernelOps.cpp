// Interprets the generated kernels of the `kernel` dialect on tensors, with one
// function per op. Ops of the runtime are in Prepared.cpp.
#include "compiler/interpret/RowReaders.h"
#include "compiler/interpret/ScalarRegion.h"
#include "compiler/interpret/Spans.h"
#include "dialects/transformer/BlockForm.h"
#include "dialects/transformer/E4m3.h"

#include <cmath>

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;

Status mille::interpreter::runOp(Run &run, kernel::WeightOp op) {
  Tensor tensor;
  Status status = run.parameter(op.getValue(), op.getLoc(), tensor);
  run.set(op.getResult(), std::move(tensor));
  return status;
}

Status mille::interpreter::readSpans(Run &run, Operation *op, mlir::Value of,
                                     int64_t entries, int64_t rows,
                                     SmallVectorImpl<Span> &spans) {
  const Tensor *starts = run.find(of);
  if (!starts) {
    spans.push_back({0, 0, rows});
    return Status::done;
  }
  if (Status s = expectCount(op, "starts", starts, entries + 1); failed(s))
    return s;
  for (int64_t e = 0; e < entries; ++e)
    spans.push_back(
        {e, int64_t(starts->numbers[e]), int64_t(starts->numbers[e + 1])});
  int64_t next = 0;
  for (const Span &span : spans) {
    if (span.begin != next || span.end < span.begin || span.end > rows) {
      op->emitError() << "starts gives entry " << span.entry << " rows "
                      << span.begin << " to " << span.end << " but " << next
                      << " of " << rows << " rows come before it";
      return Status::input;
    }
    next = span.end;
  }
  return Status::done;
}

namespace {

// The entry that each row uses.
Tensor entryPerRow(ArrayRef<Span> spans, int64_t rows) {
  Tensor entries = zeros({rows});
  for (const Span &span : spans)
    std::fill(entries.numbers.begin() + span.begin,
              entries.numbers.begin() + span.end, double(span.entry));
  return entries;
}

// Dequantises sums of bytes, except for the weight's scale.
Status applyParameters(Run &run, kernel::MatmulOp op, ArrayRef<Span> spans,
                       Tensor &sums) {
  const Tensor *all = run.find(op.getParameters()),
               *weightSums = run.find(op.getSums());
  int64_t columns = columnsOf(sums),
          entries = op.getStarts() ? spans.size() : 1;
  if (!all)
    return Status::done;
  if (Status s = expectCount(op, "sums", weightSums, entries * columns);
      failed(s))
    return s;
  if (Status s = expectCount(op, "parameters", all, rowsOf(sums) * 4);
      failed(s))
    return s;
  const Tensor &weight = run.at(op.getWeight());
  const int64_t inner = columnsOf(weight);
  for (const Span &span : spans)
    for (int64_t m = span.begin; m < span.end; ++m) {
      const double *row = &all->numbers[m * 4];
      for (int64_t n = 0; n < columns; ++n) {
        const int64_t at = span.entry * columns + n;
        double &sum = sums.numbers[m * columns + n];
        sum = (sum - row[1] * weightSums->numbers[at]) * row[0] +
              row[2] * weight.numbers[at * inner + int64_t(row[3])];
      }
    }
  return Status::done;
}

// Decodes bytes in blocks to numbers.
Status dequantized(Run &run, kernel::MatmulOp op, Tensor &input) {
  const int64_t rows = rowsOf(input), columns = columnsOf(input);
  const int64_t blocks = columns / inputBlock;
  const Tensor *parameters = run.find(op.getParameters());
  if (Status s = expectCount(op, "parameters", parameters,
                             rows * inputParameters * blocks);
      failed(s))
    return s;
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t k = 0; k < columns; ++k)
      input.numbers[m * columns + k] *=
          parameters->numbers[m * inputParameters * blocks + k / inputBlock];
  return Status::done;
}

// input * weight^T, [rows, accumulators * N], each span by its entry, or each
// head by its own.
Status multiply(Run &run, kernel::MatmulOp op, SmallVectorImpl<Span> &spans,
                Tensor &sums) {
  Tensor numbers;
  if (op.getBlocks()) {
    numbers = run.at(op.getInput());
    if (Status s = dequantized(run, op, numbers); failed(s))
      return s;
  }
  const Tensor &input =
      op.getBlocks() ? numbers : run.at(op.getInput()); // [rows, K]
  const Tensor &weight = run.at(op.getWeight());        // ([entries,) sums, K]
  const int64_t heads = op.getHeads();
  int64_t rows = rowsOf(input), inner = columnsOf(input) / (heads ? heads : 1);
  const bool stacked = op.getStarts() || heads;
  size_t rank = stacked ? 3 : 2;
  int64_t entries = op.getStarts() ? weight.shape[0] : 1;
  int64_t columns = weight.shape.size() == rank ? weight.shape[rank - 2] : 0;
  if (weight.shape.size() != rank || columnsOf(weight) != inner ||
      columns % int64_t(op.getAccumulators())) {
    op.emitError() << "weight " << op.getWeight().getType() << " is not "
                   << (stacked ? "[entries, " : "[") << op.getAccumulators()
                   << " * columns, " << inner << "]";
    return Status::input;
  }
  if (heads) {
    sums = zeros({rows, heads * columns});
    productByHead(input.numbers.data(), weight.numbers.data(),
                  sums.numbers.data(), rows, heads, inner, columns);
    return Status::done;
  }
  if (Status s = readSpans(run, op, op.getStarts(), entries, rows, spans);
      failed(s))
    return s;
  sums = zeros({rows, columns});
  for (const Span &span : spans)
    product(input.numbers.data() + span.begin * inner,
            weight.numbers.data() + span.entry * columns * inner,
            sums.numbers.data() + span.begin * columns, span.end - span.begin,
            inner, columns);
  return op.getBlocks() ? Status::done : applyParameters(run, op, spans, sums);
}

} // namespace

Status mille::interpreter::runOp(Run &run, kernel::MatmulOp op) {
  SmallVector<Span> spans;
  Tensor sums; // [rows, accumulators * N]
  if (Status s = multiply(run, op, spans, sums); failed(s))
    return s;
  int64_t rows = rowsOf(sums), both = columnsOf(sums);
  int64_t columns = both / int64_t(op.getAccumulators());
  Tensor entries = entryPerRow(spans, rows);
  RowReaders extras(rows, columns);
  for (mlir::Value extra : op.getExtras()) {
    auto type = cast<ShapedType>(extra.getType());
    bool byExpert = op.getStarts() && !kernel::accessOf(type, columns);
    if (Status s = extras.add(run, op, extra, byExpert ? &entries : nullptr);
        failed(s))
      return s;
  }
  ScalarRegion epilogue;
  epilogue.read(op.getEpilogue());
  Tensor out = zeros({rows, columns});
  for (int64_t m = 0; m < rows; ++m) {
    std::vector<const double *> arguments;
    for (int64_t first = 0; first < both; first += columns)
      arguments.push_back(&sums.numbers[m * both + first]);
    extras.append(m, arguments);
    epilogue.run(arguments, columns, &out.numbers[m * columns]);
  }
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::RowsOp op) {
  Tensor out = run.at(op.getOut());
  int64_t rows = rowsOf(out), columns = columnsOf(out);
  RowReaders inputs(rows, columns);
  for (auto [input, gather] : llvm::zip_equal(op.getInputs(), op.getGather()))
    if (Status s = inputs.add(run, op, input,
                              gather >= 0 ? &run.at(op.getIndices()[gather])
                                          : nullptr);
        failed(s))
      return s;
  ScalarRegion body;
  body.read(op.getBody());
  kernel::RowNormAttr norm = op.getNormAttr();
  int64_t group = norm && norm.getGroup() ? norm.getGroup() : columns;
  std::vector<double> normed(columns);
  for (int64_t m = 0; m < rows; ++m) {
    std::vector<const double *> arguments;
    inputs.append(m, arguments);
    if (norm) {
      std::copy_n(arguments[0], columns, normed.begin());
      for (int64_t first = 0; first < columns; first += group)
        normRow(norm.getKind(), norm.getEps(), &normed[first], group);
      arguments[0] = normed.data();
    }
    body.run(arguments, columns, &out.numbers[m * columns]);
  }
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

// The column of the number with the largest magnitude. A NaN is the largest; x
// comes before -x, and of equal numbers the first in the order of columns
// modulo 64.
static int64_t outlierOf(ArrayRef<double> row) {
  auto rank = [&](size_t n) {
    double x = row[n];
    return std::tuple(std::isnan(x) ? HUGE_VAL : std::fabs(x), x > 0,
                      -int64_t(n % 64));
  };
  size_t found = 0;
  for (size_t n = 0; n < row.size(); ++n)
    if (rank(n) > rank(found))
      found = n;
  return found;
}

static void quantizeIntegers(ArrayRef<double> numbers, double *values,
                             double *parameters) {
  SmallVector<double> row(numbers);
  const int64_t column = outlierOf(row);
  const double outlier = row[column];
  row[column] = 0;
  double low = 0, high = 0;
  for (double x : row) {
    low = std::min(low, x);
    high = std::isnan(x) ? x : std::max(high, x); // a NaN stays
  }
  const double step = std::max((high - low) / 255, 0x1p-100);
  const double zero = std::floor(-low / step + 0.5);
  for (size_t n = 0; n < row.size(); ++n)
    values[n] = std::clamp(std::floor(row[n] / step + zero + 0.5), 0.0, 255.0);
  const double all[] = {step, zero, outlier, double(column)};
  std::copy(std::begin(all), std::end(all), parameters);
}

// Rounds a row to values in blocks. `parameters`: the blocks' steps, then the
// sums of their values, then the sums of their first halves (BlockForm.h).
static void quantizeBlocks(ArrayRef<double> row, double *values,
                           double *parameters) {
  const int64_t blocks = row.size() / inputBlock;
  for (int64_t b = 0; b < blocks; ++b) {
    double largest = 0, sums[2] = {};
    ArrayRef<double> block = row.slice(b * inputBlock, inputBlock);
    for (double x : block) // a NaN stays
      largest = std::isnan(x) ? x : std::max(largest, std::fabs(x));
    const double step = std::max(largest / 127, 0x1p-100);
    for (auto [k, x] : llvm::enumerate(block)) {
      *values = std::clamp(std::nearbyint(x / step), -127.0, 127.0);
      sums[k >= inputBlock / 2] += *values++;
    }
    parameters[b] = step;
    parameters[blocks + b] = countsFrom - levelOffset * (sums[0] + sums[1]);
    parameters[2 * blocks + b] = countsFrom - levelOffset * sums[0];
  }
}

// Rounds a row to floats of 8 bits.
static void quantizeFloats(ArrayRef<double> row, double *values,
                           double *scale) {
  double largest = 0;
  for (double x : row) // a NaN stays
    largest = std::isnan(x) ? x : std::max(largest, std::fabs(x));
  *scale = std::max(largest / mostE4m3, 0x1p-100);
  for (double x : row)
    *values++ = widenE4m3(narrowE4m3(x / *scale));
}

Status mille::interpreter::runOp(Run &run, kernel::QuantizeOp op) {
  const Tensor &input = run.at(op.getInput());
  int64_t rows = rowsOf(input), columns = columnsOf(input);
  const int64_t each =
      cast<ShapedType>(op.getParameters().getType()).getDimSize(1);
  Type element = cast<ShapedType>(op.getValues().getType()).getElementType();
  const auto quantizeOne = isa<FloatType>(element)       ? quantizeFloats
                           : element.isUnsignedInteger() ? quantizeIntegers
                                                         : quantizeBlocks;
  Tensor values = zeros({rows, columns}), parameters = zeros({rows, each});
  for (int64_t m = 0; m < rows; ++m) {
    quantizeOne({&input.numbers[m * columns], size_t(columns)},
                &values.numbers[m * columns], &parameters.numbers[m * each]);
  }
  run.set(op.getResults()[0], std::move(values));
  run.set(op.getResults()[1], std::move(parameters));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::LaunchOp op) {
  Block &block = op.getBody().front();
  if (Status s = runBlock(run, block); failed(s))
    return s;
  for (auto [result, yielded] : llvm::zip_equal(
           op.getOutcomes(), block.getTerminator()->getOperands())) {
    Tensor copy = run.at(yielded);
    run.set(result, std::move(copy));
  }
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::LayersOp op) {
  SmallVector<Tensor> stream;
  for (mlir::Value initial : op.getStream())
    stream.push_back(run.at(initial));
  Status status = runLayers(run, op, stream);
  for (auto [outcome, value] : llvm::zip_equal(op.getOutcomes(), stream))
    run.set(outcome, std::move(value));
  return status;
}

Status mille::interpreter::runOp(Run &run, kernel::KeepOp op) {
  run.keep(op.getName(), op.getIndex(), run.at(op.getInput()));
  return Status::done;
}

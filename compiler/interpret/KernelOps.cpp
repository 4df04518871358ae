// The launches of the `kernel` dialect on tensors, one function each.
// What the runtime prepares once per run is in Prepared.cpp.
#include "compiler/interpret/Run.h"
#include "compiler/interpret/ScalarRegion.h"

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;

namespace {

// How one operand of a row-wise kernel is read for row m of the out.
struct RowReader {
  const Tensor *tensor;
  kernel::Access access;
  const Tensor *indices = nullptr; // gathered: row indices[m] of the table
  std::vector<double> broadcast;   // a row of one number, repeated

  // The `columns` numbers of row m.
  const double *row(int64_t m, int64_t columns) {
    switch (access) {
    case kernel::Access::element: {
      int64_t from = indices ? int64_t(indices->numbers[m]) : m;
      return &tensor->numbers[from * columns];
    }
    case kernel::Access::column:
      return tensor->numbers.data();
    case kernel::Access::row:
      broadcast.assign(columns, tensor->numbers[m]);
      return broadcast.data();
    case kernel::Access::scalar:
      broadcast.assign(columns, tensor->numbers[0]);
      return broadcast.data();
    }
    return nullptr;
  }
};

// Reads `value` into `reader`, or an error on `op` where the shapes of this run
// do not fit `rows` rows of `columns`.
Status readOperand(Run &run, Operation *op, mlir::Value value,
                   const Tensor *indices, int64_t rows, int64_t columns,
                   RowReader &reader) {
  reader.tensor = &run.at(value);
  reader.indices = indices;
  auto type = cast<ShapedType>(value.getType());
  auto access = indices ? std::optional(kernel::Access::element)
                        : kernel::accessOf(type, columns);
  if (!access) {
    op->emitError() << "operand " << type << " cannot be read for " << columns
                    << " columns";
    return Status::bug;
  }
  reader.access = *access;
  int64_t count = reader.tensor->numbers.size();
  bool byRow = reader.access == kernel::Access::row;
  if (!indices && (byRow || reader.access == kernel::Access::element) &&
      count != rows * (byRow ? 1 : columns)) {
    op->emitError() << "operand " << type << " has " << count
                    << " numbers but the out has " << rows << " rows";
    return Status::input;
  }
  if (!indices)
    return Status::done;
  int64_t entries = count / std::max<int64_t>(columns, 1);
  if (int64_t(indices->numbers.size()) != rows) {
    op->emitError() << "indices has " << indices->numbers.size()
                    << " entries but the out has " << rows << " rows";
    return Status::input;
  }
  for (auto [m, index] : llvm::enumerate(indices->numbers))
    if (index < 0 || index >= entries) {
      op->emitError() << "index " << int64_t(index) << " is read at row " << m
                      << " but the table has " << entries << " rows";
      return Status::input;
    }
  return Status::done;
}

} // namespace

Status mille::interpreter::runOp(Run &run, kernel::WeightOp op) {
  Tensor tensor;
  Status status = run.parameter(op.getValue(), op.getLoc(), tensor);
  run.set(op.getResult(), std::move(tensor));
  return status;
}

Status mille::interpreter::runOp(Run &run, kernel::MatmulOp op) {
  const Tensor &input = run.at(op.getInput());   // [rows, K]
  const Tensor &weight = run.at(op.getWeight()); // [accumulators * N, K]
  int64_t rows = rowsOf(input), inner = columnsOf(input);
  int64_t accumulators = op.getAccumulators();
  if (weight.shape.size() != 2 || weight.shape[1] != inner ||
      weight.shape[0] % accumulators) {
    op.emitError() << "weight " << op.getWeight().getType() << " is not ["
                   << accumulators << " * columns, " << inner << "]";
    return Status::input;
  }
  int64_t both = weight.shape[0], columns = both / accumulators;
  std::vector<RowReader> extras(op.getExtras().size());
  for (auto [i, extra] : llvm::enumerate(op.getExtras()))
    if (Status s =
            readOperand(run, op, extra, nullptr, rows, columns, extras[i]);
        failed(s))
      return s;
  ScalarRegion epilogue;
  if (Status s = epilogue.read(op.getEpilogue()); failed(s))
    return s;
  std::vector<double> sums(rows * both); // [rows, accumulators * N]
  product(input.numbers.data(), weight.numbers.data(), sums.data(), rows, inner,
          both);
  Tensor out = zeros({rows, columns});
  for (int64_t m = 0; m < rows; ++m) {
    std::vector<const double *> arguments;
    for (int64_t a = 0; a < accumulators; ++a)
      arguments.push_back(&sums[m * both + a * columns]);
    for (RowReader &extra : extras)
      arguments.push_back(extra.row(m, columns));
    epilogue.run(arguments, columns, &out.numbers[m * columns]);
  }
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::RowsOp op) {
  Tensor out = run.at(op.getOut());
  int64_t rows = rowsOf(out), columns = columnsOf(out);
  std::vector<RowReader> inputs(op.getInputs().size());
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    int64_t gather = op.getGather()[i];
    const Tensor *indices =
        gather >= 0 ? &run.at(op.getIndices()[gather]) : nullptr;
    if (Status s =
            readOperand(run, op, input, indices, rows, columns, inputs[i]);
        failed(s))
      return s;
  }
  ScalarRegion body;
  if (Status s = body.read(op.getBody()); failed(s))
    return s;
  std::vector<double> normed(columns);
  for (int64_t m = 0; m < rows; ++m) {
    std::vector<const double *> arguments;
    for (RowReader &input : inputs)
      arguments.push_back(input.row(m, columns));
    if (auto norm = op.getNormAttr()) {
      std::copy_n(arguments[0], columns, normed.begin());
      RowNorm kind = norm.getKind() == kernel::RowNormKind::layer
                         ? RowNorm::layer
                     : norm.getKind() == kernel::RowNormKind::rms ? RowNorm::rms
                                                                  : RowNorm::l2;
      normRow(kind, norm.getEps().getValueAsDouble(), normed.data(), columns);
      arguments[0] = normed.data();
    }
    body.run(arguments, columns, &out.numbers[m * columns]);
  }
  run.set(op.getResult(), std::move(out));
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
  Status status = runLayers(run, op, op.getSlots(), op.getBodies(),
                            op.getTable(), stream);
  for (auto [outcome, value] : llvm::zip_equal(op.getOutcomes(), stream))
    run.set(outcome, std::move(value));
  return status;
}

Status mille::interpreter::runOp(Run &run, kernel::KeepOp op) {
  run.keep(op.getName(), op.getIndex(), run.at(op.getInput()));
  return Status::done;
}

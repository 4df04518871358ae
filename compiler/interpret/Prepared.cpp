// What a kernel program asks of the runtime once per run, and its sizes.
// Must not round: cosines, schedules and means stay double.
#include "compiler/interpret/Run.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;

Status mille::interpreter::runOp(Run &run, kernel::KeyBiasOp op) {
  Tensor out = run.at(op.getMask());
  out.integer = false;
  out.shape = {int64_t(out.numbers.size()), 1};
  for (double &number : out.numbers)
    number = number != 0 ? 0.0 : -1e30;
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::RotationOp op) {
  const Tensor &positions = run.at(op.getPositions());
  int64_t rows = positions.numbers.size(), pairs = op.getFrequencies().size();
  double factor = op.getFactor().convertToDouble();
  Tensor out = zeros({rows, 2 * pairs});
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t i = 0; i < pairs; ++i) {
      double angle = positions.numbers[m] * op.getFrequencies()[i];
      out.numbers[m * 2 * pairs + i] = factor * std::cos(angle);
      out.numbers[m * 2 * pairs + pairs + i] = factor * std::sin(angle);
    }
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::ScheduleOp op) {
  Tensor out = zeros({1});
  out.numbers[0] = scheduled(run.at(op.getStep()).numbers.at(0),
                             op.getFrom().convertToDouble(),
                             op.getTo().convertToDouble(), op.getSteps());
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

namespace {

Status checkMask(Operation *op, Run &run, mlir::Value mask, int64_t rows) {
  if (!mask || int64_t(run.at(mask).numbers.size()) == rows)
    return Status::done;
  op->emitError() << "mask has " << run.at(mask).numbers.size()
                  << " entries but there are " << rows << " rows";
  return Status::input;
}

bool unmasked(Run &run, mlir::Value mask, int64_t row) {
  return !mask || run.at(mask).numbers[row] != 0;
}

} // namespace

Status mille::interpreter::runOp(Run &run, kernel::PoolIndexOp op) {
  int64_t tokens = run.index(op.getTokens());
  Tensor out = run.at(op.getOut()); // [batch]
  int64_t batch = out.numbers.size();
  if (Status s = checkMask(op, run, op.getMask(), batch * tokens); failed(s))
    return s;
  for (int64_t b = 0; b < batch; ++b) {
    int64_t found = 0;
    for (int64_t t = 0; t < tokens && op.getKind() == 1; ++t)
      if (unmasked(run, op.getMask(), b * tokens + t))
        found = t;
    out.numbers[b] = b * tokens + found;
  }
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::PoolMeanOp op) {
  const Tensor &input = run.at(op.getInput());
  int64_t tokens = run.index(op.getTokens()), columns = columnsOf(input);
  int64_t rows = rowsOf(input);
  if (Status s = checkMask(op, run, op.getMask(), rows); failed(s))
    return s;
  Tensor out = zeros({rows / tokens, columns});
  for (int64_t b = 0; b < rows / tokens; ++b) {
    double *mean = &out.numbers[b * columns];
    int64_t count = 0;
    for (int64_t m = b * tokens; m < (b + 1) * tokens; ++m) {
      if (!unmasked(run, op.getMask(), m))
        continue;
      ++count;
      for (int64_t c = 0; c < columns; ++c)
        mean[c] += input.numbers[m * columns + c];
    }
    for (int64_t c = 0; c < columns && count; ++c)
      mean[c] /= count;
  }
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

namespace {

Tensor indexOf(int64_t number) {
  Tensor tensor;
  tensor.integer = true;
  tensor.numbers = {double(number)};
  return tensor;
}

// A destination: its shape, and numbers that show where one is read.
Tensor destination(Run &run, tensor::EmptyOp op) {
  Tensor out;
  auto sizes = op.getDynamicSizes().begin();
  for (int64_t extent : op.getType().getShape())
    out.shape.push_back(ShapedType::isDynamic(extent) ? run.index(*sizes++)
                                                      : extent);
  out.numbers.assign(elementsOf(out.shape),
                     std::numeric_limits<double>::quiet_NaN());
  return out;
}

} // namespace

Status mille::interpreter::runSizes(Run &run, Operation *op) {
  auto two = [&](auto binary, auto compute) {
    run.set(binary.getResult(), indexOf(compute(run.index(binary.getLhs()),
                                                run.index(binary.getRhs()))));
    return Status::done;
  };
  auto no = [&] {
    op->emitError() << "op '" << op->getName()
                    << "' has no meaning in the interpreter";
    return Status::bug;
  };
  return llvm::TypeSwitch<Operation *, Status>(op)
      .Case([&](arith::ConstantOp constant) {
        auto number = dyn_cast<IntegerAttr>(constant.getValue());
        if (!number)
          return no();
        run.set(constant.getResult(),
                indexOf(number.getValue().getSExtValue()));
        return Status::done;
      })
      .Case(
          [&](arith::MulIOp op) { return two(op, std::multiplies<int64_t>()); })
      .Case([&](arith::AddIOp op) { return two(op, std::plus<int64_t>()); })
      .Case([&](arith::SubIOp op) { return two(op, std::minus<int64_t>()); })
      .Case([&](tensor::EmptyOp empty) {
        run.set(empty.getResult(), destination(run, empty));
        return Status::done;
      })
      .Case([&](tensor::CastOp cast) {
        Tensor copy = run.at(cast.getSource());
        run.set(cast.getResult(), std::move(copy));
        return Status::done;
      })
      .Case([&](tensor::DimOp dim) {
        const Tensor &source = run.at(dim.getSource());
        size_t i = run.index(dim.getIndex());
        if (i >= source.shape.size())
          return no();
        run.set(dim.getResult(), indexOf(source.shape[i]));
        return Status::done;
      })
      .Default([&](Operation *) { return no(); });
}

// Interprets the ops that the runtime computes, and sizes.
// Must not round: cosines, schedules and means stay double.
#include "compiler/interpret/AttendHead.h"
#include "compiler/interpret/Run.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "runtime/Philox.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;

Status mille::interpreter::runOp(Run &run, kernel::AlibiOp op) {
  const Tensor &positions = run.at(op.getPositions());
  int64_t heads = op.getSlopes().size();
  double factor = op.getFactor().convertToDouble();
  Tensor out = zeros({int64_t(positions.numbers.size()), heads});
  for (size_t i = 0; i < out.numbers.size(); ++i)
    out.numbers[i] = factor * alibiOf(op.getSlopes()[i % heads],
                                      positions.numbers[i / heads]);
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

namespace {

// Of both dialects: rows of `tokens` to a sequence.
template <typename Op>
Status dropRows(Run &run, Op op, int64_t tokens, Tensor &out) {
  const Tensor &step = run.at(op.getStep()), &first = run.at(op.getFirst());
  for (Status s :
       {expectCount(op, "step", &step, 1), expectCount(op, "first", &first, 1)})
    if (failed(s))
      return s;
  const Dropout mask{uint32_t(op.getSeed()), uint32_t(op.getSite()),
                     uint32_t(int64_t(step.numbers[0])),
                     run.layer
                         ? uint32_t(run.layer->index + int64_t(op.getAfter()))
                         : UINT32_MAX,
                     op.getRate().convertToDouble()};
  const int64_t columns = columnsOf(out);
  for (int64_t m = 0; m < rowsOf(out); ++m)
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t row = int64_t(first.numbers[0]) * tokens + m;
      const bool kept =
          mask.words(c / 4, uint32_t(row)).word[c % 4] >= mask.threshold();
      out.numbers[m * columns + c] *= kept ? 1 / (1 - mask.rate) : 0;
    }
  return Status::done;
}

} // namespace

Status mille::interpreter::runOp(Run &run, transformer::DropoutOp op) {
  Tensor out = run.at(op.getInput());
  Status status = dropRows(run, op, out.shape[1], out);
  run.set(op.getResult(), std::move(out));
  return status;
}

Status mille::interpreter::runOp(Run &run, kernel::DropoutOp op) {
  Tensor out = run.at(op.getInput());
  Status status = dropRows(run, op, run.index(op.getTokens()), out);
  run.set(op.getResult(), std::move(out));
  return status;
}

Status mille::interpreter::runOp(Run &run, kernel::ShiftOp op) {
  Tensor out = run.at(op.getIds());
  for (double &id : out.numbers)
    id += double(int64_t(op.getNumber()));
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::SpreadOp op) {
  const Tensor &weight = run.at(op.getWeight());
  Tensor out = run.at(op.getOut());
  for (auto [number, from] : llvm::zip_equal(out.numbers, op.getFrom()))
    number = weight.numbers[from];
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::QueryScaleOp op) {
  const Tensor *positions = run.find(op.getPositions());
  const Tensor *mask = run.find(op.getKeyMask());
  int64_t tokens = run.index(op.getTokens());
  Sight sight(op.getCausal(), op.getWindow(), 0);
  const Tensor *past = run.find(op.getPast());
  Tensor out = zeros(run.at(op.getOut()).shape); // [rows, 1]
  int64_t rows = rowsOf(out);
  int64_t queries = past ? rows / int64_t(past->numbers.size()) : tokens;
  for (Status s : {expectCount(op, "positions", positions, rows),
                   expectCount(op, "key_mask", mask, rows / queries * tokens)})
    if (failed(s))
      return s;
  for (int64_t m = 0; m < rows; ++m) {
    int64_t sequence = m / queries, seen = 0;
    int64_t i = m % queries + (past ? int64_t(past->numbers[sequence]) : 0);
    for (int64_t j = 0; j < tokens; ++j)
      seen += sight.shows(i, j) &&
              (!mask || mask->numbers[sequence * tokens + j] != 0);
    out.numbers[m] = lengthFactor(op.getScale(), seen, i,
                                  positions ? positions->numbers[m] : 0);
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
    return Status::input;
  };
  return llvm::TypeSwitch<Operation *, Status>(op)
      .Case([&](arith::ConstantOp constant) {
        auto number = dyn_cast<IntegerAttr>(constant.getValue());
        if (number)
          run.set(constant.getResult(),
                  indexOf(number.getValue().getSExtValue()));
        return Status::done; // others are of scalar regions
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

// Interprets the ops on states of both dialects.
// Must not know attention; AttendHead does.
#include "compiler/interpret/AttendHead.h"
#include "compiler/interpret/Run.h"
#include "compiler/interpret/StateBytes.h"
#include "dialects/kernel/Remembered.h"

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;
namespace tf = mille::transformer;

namespace {

// The numbers of one entry of a state, and where they begin.
struct Entry {
  int64_t batch, rows, columns, first;

  Entry(const Tensor &state, int64_t index)
      : batch(state.shape[1]), rows(state.shape[2]), columns(state.shape[3]),
        first(index * batch * rows * columns) {}
  int64_t size() const { return batch * rows * columns; }
};

// past[b] + t for the tokens of each sequence.
std::vector<double> positionsOf(const Tensor &past, int64_t tokens) {
  std::vector<double> positions;
  for (double held : past.numbers)
    for (int64_t t = 0; t < tokens; ++t)
      positions.push_back(held + t);
  return positions;
}

// An entry as its reader names it: [batch, rows, columns], or ids.
Tensor asResult(Tensor entry, mlir::Value result) {
  auto type = cast<ShapedType>(result.getType());
  entry.integer = type.getElementType().isInteger(32);
  std::vector<int64_t> shape = entry.shape; // [batch, rows, columns]
  if (isa<tf::RememberOp, tf::RecallOp>(result.getDefiningOp()))
    shape.resize(type.getRank());
  else
    shape = type.getRank() == 1
                ? std::vector<int64_t>{shape[0] * shape[1]}
                : std::vector<int64_t>{shape[0] * shape[1], shape[2]};
  entry.shape = std::move(shape);
  return entry;
}

} // namespace

Tensor Run::recall(mlir::Value state, int64_t index) {
  const Tensor &held = states[state];
  Entry entry(held, index + (layer ? layer->index : 0));
  Tensor out;
  out.shape = {entry.batch, entry.rows, entry.columns};
  auto first = held.numbers.begin() + entry.first;
  out.numbers.assign(first, first + entry.size());
  return out;
}

Tensor Run::remember(mlir::Value state, int64_t index, const Tensor &input,
                     const Tensor *past) {
  Tensor &held = states[state];
  Entry entry(held, index + (layer ? layer->index : 0));
  int64_t tokens = input.numbers.size() / (entry.batch * entry.columns);
  for (int64_t b = 0; b < entry.batch; ++b)
    for (int64_t t = 0; t < tokens; ++t) {
      int64_t row = (past ? int64_t(past->numbers[b]) : 0) + t;
      if (row < entry.rows)
        std::copy_n(input.numbers.begin() + (b * tokens + t) * entry.columns,
                    entry.columns,
                    held.numbers.begin() + entry.first +
                        (b * entry.rows + row) * entry.columns);
    }
  return recall(state, index);
}

Status mille::interpreter::runOp(Run &run, tf::RememberOp op) {
  run.set(op.getResult(),
          asResult(run.remember(op.getState(), op.getIndex(),
                                run.at(op.getInput()), run.find(op.getPast())),
                   op.getResult()));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::RecallOp op) {
  run.set(op.getResult(),
          asResult(run.recall(op.getState(), op.getIndex()), op.getResult()));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::PositionsOp op) {
  const Tensor &past = run.at(op.getPast());
  Tensor out;
  out.integer = true;
  out.shape = {int64_t(past.numbers.size()), run.at(op.getLike()).shape[1]};
  out.numbers = positionsOf(past, out.shape[1]);
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::RecallOp op) {
  run.set(op.getResult(),
          asResult(run.recall(op.getState(), op.getIndex()), op.getResult()));
  return Status::done;
}

// Some columns of rows.
static Tensor columnsFrom(const Tensor &rows, int64_t from, int64_t columns) {
  Tensor out;
  out.integer = rows.integer;
  out.shape = {rows.shape[0], columns};
  for (int64_t row = 0; row < rows.shape[0]; ++row) {
    auto first = rows.numbers.begin() + row * rows.shape[1] + from;
    out.numbers.insert(out.numbers.end(), first, first + columns);
  }
  return out;
}

Status mille::interpreter::runOp(Run &run, kernel::RememberOp op) {
  auto recall = op.getOut().getDefiningOp<kernel::RecallOp>();
  Tensor input = run.at(op.getInput());
  if (int64_t from = kernel::fromOf(op))
    input = columnsFrom(input, from, kernel::rememberedColumns(op));
  if (auto type = cast<ShapedType>(op.getOut().getType());
      type.getElementType().isInteger(8))
    input = inBytes(input, op.getHeads().value_or(1), type.getDimSize(1));
  Tensor all = run.remember(recall.getState(), recall.getIndex(), input,
                            run.find(op.getPast()));
  run.set(op.getResult(), asResult(std::move(all), op.getResult()));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::PositionsOp op) {
  const Tensor &past = run.at(op.getPast());
  int64_t rows = run.at(op.getOut()).numbers.size();
  Tensor out;
  out.integer = true;
  out.numbers = positionsOf(past, rows / past.numbers.size());
  out.shape = {rows};
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

void Run::recur(mlir::Value state, int64_t index, Recurrence &all) {
  Tensor &held = states[state];
  Entry entry(held, index + (layer ? layer->index : 0));
  const int64_t headDim = all.head.headDim, valueDim = all.head.valueDim;
  for (int64_t b = 0; b < entry.batch; ++b)
    for (int64_t h = 0; h < all.heads; ++h) {
      all.enter(b, h);
      double *sum = held.numbers.data() + entry.first +
                    (b * entry.rows + h * headDim) * valueDim;
      if (all.past.numbers[b] == 0)
        std::fill(sum, sum + headDim * valueDim, 0.0);
      attendByToken(all.head, all.decay[h], all.tokensOf(b), sum);
    }
}

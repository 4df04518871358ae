// Interprets the ops of both dialects that make, number and move tokens:
// gathers, counts. Must only move numbers; pooling is in Pool.cpp, patches are
// in Images.cpp.
#include "compiler/interpret/Run.h"

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;
namespace tf = mille::transformer;

namespace {

// [batch * tokens, parts * columns] -> [batch * m, group * columns].
template <typename Op>
Tensor gatherTokens(Op op, const Tensor &input, int64_t batch, int64_t tokens) {
  ArrayRef<int64_t> index = op.getIndex();
  int64_t each = op.getParts(), group = op.getGroup();
  int64_t columns = columnsOf(input) / each, parts = index.size();
  Tensor out = zeros({batch * parts / group, group * columns});
  for (int64_t part = 0; part < batch * parts; ++part) {
    int64_t from = index[part % parts];
    if (from >= 0)
      std::copy_n(
          &input.numbers[(part / parts * tokens * each + from) * columns],
          columns, &out.numbers[part * columns]);
  }
  return out;
}

// The same numbers `batch` times.
Tensor repeated(ArrayRef<int64_t> numbers, int64_t batch) {
  Tensor out = zeros({batch * int64_t(numbers.size())});
  out.integer = true;
  for (size_t i = 0; i < out.numbers.size(); ++i)
    out.numbers[i] = numbers[i % numbers.size()];
  return out;
}

// Numbers the tokens that count in each sequence of `tokens`, in place.
std::optional<int64_t> optionalOf(std::optional<uint64_t> number) {
  return number ? std::optional(int64_t(*number)) : std::nullopt;
}

template <typename Op>
void countTokens(Op op, std::vector<double> &ids, int64_t tokens) {
  std::optional<int64_t> padding = optionalOf(op.getPadding());
  int64_t counted = 0;
  for (size_t m = 0; m < ids.size(); ++m) {
    if (m % tokens == 0)
      counted = op.getFirst();
    bool counts = padding ? ids[m] != double(*padding) : ids[m] != 0;
    ids[m] = counts ? counted++ / int64_t(op.getEach()) : 0;
  }
}

// Takes the numbers of the run's `tokens` tokens from those of states, which
// have `held` tokens per sequence.
std::vector<double> tokensOfRun(const std::vector<double> &all, int64_t held,
                                const Tensor &past, int64_t tokens) {
  std::vector<double> own;
  for (auto [sequence, before] : llvm::enumerate(past.numbers))
    for (int64_t t = 0; t < tokens; ++t) {
      int64_t token = int64_t(before) + t;
      own.push_back(token < held ? all[sequence * held + token] : 0);
    }
  return own;
}

} // namespace

Status mille::interpreter::runOp(Run &run, tf::GatherTokensOp op) {
  const Tensor &input = run.at(op.getInput()); // [batch, n, channels]
  int64_t batch = input.shape[0];
  Tensor out = gatherTokens(op, input, batch, input.shape[1]);
  out.shape = {batch, out.shape[0] / batch, out.shape[1]};
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::TokenNumbersOp op) {
  int64_t batch = run.at(op.getLike()).shape[0];
  Tensor out = repeated(op.getNumbers(), batch);
  out.shape = {batch, int64_t(op.getNumbers().size())};
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::CountTokensOp op) {
  Tensor out = run.at(op.getIds()); // [batch, tokens]
  countTokens(op, out.numbers, columnsOf(out));
  if (const Tensor *past = run.find(op.getPast())) {
    int64_t tokens = run.sizes.lookup(sizes::tokens);
    out.numbers = tokensOfRun(out.numbers, columnsOf(out), *past, tokens);
    out.shape = {int64_t(past->numbers.size()), tokens};
  }
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::ConstantOp op) {
  Tensor value; // [n, channels]
  if (Status s = run.parameter(op.getValueAttr(), op.getLoc(), value);
      failed(s))
    return s;
  int64_t batch = run.at(op.getLike()).shape[0];
  Tensor out = zeros({batch, value.shape[0], columnsOf(value)});
  for (int64_t b = 0; b < batch; ++b)
    llvm::copy(value.numbers, &out.numbers[b * value.numbers.size()]);
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

//===-- kernel ------------------------------------------------------------===//

Status mille::interpreter::runOp(Run &run, kernel::GatherTokensOp op) {
  const Tensor &input = run.at(op.getInput()); // [batch * tokens, channels]
  int64_t tokens = op.getTokens();
  if (rowsOf(input) % tokens) {
    op.emitError() << "input has " << rowsOf(input) << " rows but tokens is "
                   << tokens;
    return Status::input;
  }
  run.set(op.getResult(),
          gatherTokens(op, input, rowsOf(input) / tokens, tokens));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::TokenNumbersOp op) {
  run.set(op.getResult(), repeated(op.getNumbers(), run.sizes[sizes::batch]));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::CountTokensOp op) {
  Tensor out = run.at(op.getIds()); // [rows]
  const int64_t held = run.index(op.getTokens());
  countTokens(op, out.numbers, held);
  if (const Tensor *past = run.find(op.getPast())) {
    int64_t rows = run.at(op.getOut()).numbers.size();
    out.numbers = tokensOfRun(out.numbers, held, *past,
                              rows / int64_t(past->numbers.size()));
    out.shape = {rows};
  }
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

// Pools a sequence to one vector in both dialects (a token, or the mean), and
// computes similarities of such vectors.
#include "compiler/interpret/Run.h"

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;
namespace tf = mille::transformer;

int64_t mille::interpreter::pooledToken(tf::Pool kind, const double *ids,
                                        int64_t tokens, int64_t skip,
                                        int64_t id) {
  int64_t found = 0;
  switch (kind) {
  case tf::Pool::first:
    return skip;
  case tf::Pool::last:
    for (int64_t t = 0; t < tokens; ++t)
      if (!ids || ids[t] != 0)
        found = t;
    return found;
  case tf::Pool::first_id:
    found = std::find(ids, ids + tokens, double(id)) - ids;
    return found == tokens ? 0 : found;
  case tf::Pool::highest_id:
    return std::max_element(ids, ids + tokens) - ids;
  case tf::Pool::mean:
    break;
  }
  return 0;
}

namespace {

// The mean of rows `skip` to tokens - 1 that the mask shows; 0 where none is.
void meanOf(const double *rows, const double *mask, int64_t tokens,
            int64_t skip, int64_t columns, double *mean) {
  int64_t count = 0;
  for (int64_t t = skip; t < tokens; ++t) {
    if (mask && mask[t] == 0)
      continue;
    ++count;
    for (int64_t c = 0; c < columns; ++c)
      mean[c] += rows[t * columns + c];
  }
  for (int64_t c = 0; c < columns && count; ++c)
    mean[c] /= count;
}

Status checkSkip(Operation *op, int64_t skip, int64_t tokens) {
  if (skip < tokens)
    return Status::done;
  op->emitError() << "skip is " << skip << " but a sequence has " << tokens
                  << " tokens";
  return Status::input;
}

// [batch, batch] of two [batch, columns].
Tensor similarityOf(const Tensor &left, const Tensor &right) {
  Tensor out = zeros({rowsOf(left), rowsOf(right)});
  product(left.numbers.data(), right.numbers.data(), out.numbers.data(),
          rowsOf(left), columnsOf(left), rowsOf(right));
  return out;
}

} // namespace

Status mille::interpreter::runOp(Run &run, tf::PoolOp op) {
  const Tensor &input = run.at(op.getInput()); // [batch, tokens, channels]
  const Tensor *mask = run.find(op.getKeyMask()), *ids = run.find(op.getIds());
  int64_t batch = input.shape[0], tokens = input.shape[1];
  int64_t channels = input.shape[2];
  for (Status s : {expectCount(op, "key_mask", mask, batch * tokens),
                   expectCount(op, "ids", ids, batch * tokens),
                   checkSkip(op, op.getSkip(), tokens)})
    if (failed(s))
      return s;
  const Tensor *read = ids ? ids : mask;
  Tensor out = zeros({batch, channels});
  for (int64_t b = 0; b < batch; ++b) {
    const double *rows = &input.numbers[b * tokens * channels];
    const double *numbers = read ? &read->numbers[b * tokens] : nullptr;
    double *into = &out.numbers[b * channels];
    if (op.getKind() == tf::Pool::mean)
      meanOf(rows, numbers, tokens, op.getSkip(), channels, into);
    else
      std::copy_n(rows + channels * pooledToken(op.getKind(), numbers, tokens,
                                                op.getSkip(),
                                                int64_t(op.getId())),
                  channels, into);
  }
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::SimilarityOp op) {
  run.set(op.getResult(),
          similarityOf(run.at(op.getLeft()), run.at(op.getRight())));
  return Status::done;
}

//===-- kernel ------------------------------------------------------------===//

Status mille::interpreter::runOp(Run &run, kernel::PoolIndexOp op) {
  int64_t tokens = run.index(op.getTokens());
  const Tensor *mask = run.find(op.getMask());
  Tensor out = run.at(op.getOut()); // [batch]
  int64_t batch = out.numbers.size();
  tf::Pool kind = op.getKind();
  for (Status s : {expectCount(op, "mask", mask, batch * tokens),
                   checkSkip(op, op.getSkip(), tokens)})
    if (failed(s))
      return s;
  for (int64_t b = 0; b < batch; ++b)
    out.numbers[b] =
        b * tokens + pooledToken(kind,
                                 mask ? &mask->numbers[b * tokens] : nullptr,
                                 tokens, op.getSkip(), int64_t(op.getId()));
  out.integer = true;
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::PoolMeanOp op) {
  const Tensor &input = run.at(op.getInput());
  const Tensor *mask = run.find(op.getKeyMask());
  int64_t tokens = run.index(op.getTokens()), columns = columnsOf(input);
  int64_t rows = rowsOf(input);
  for (Status s : {expectCount(op, "key_mask", mask, rows),
                   checkSkip(op, op.getSkip(), tokens)})
    if (failed(s))
      return s;
  Tensor out = zeros({rows / tokens, columns});
  for (int64_t b = 0; b < rows / tokens; ++b)
    meanOf(&input.numbers[b * tokens * columns],
           mask ? &mask->numbers[b * tokens] : nullptr, tokens, op.getSkip(),
           columns, &out.numbers[b * columns]);
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::PoolGradientOp op) {
  const Tensor &gradient = run.at(op.getGradient()); // [batch, columns]
  const Tensor *index = run.find(op.getIndex());
  const Tensor *mask = run.find(op.getKeyMask());
  const int64_t tokens = run.index(op.getTokens());
  const int64_t batch = rowsOf(gradient), columns = columnsOf(gradient);
  for (Status s : {expectCount(op, "index", index, batch),
                   expectCount(op, "key_mask", mask, batch * tokens),
                   checkSkip(op, op.getSkip(), tokens)})
    if (failed(s))
      return s;
  Tensor out = zeros({batch * tokens, columns});
  for (int64_t b = 0; b < batch; ++b) {
    SmallVector<int64_t> rows;
    if (index)
      rows.push_back(int64_t(index->numbers[b]));
    for (int64_t t = op.getSkip(); t < tokens && !index; ++t)
      if (!mask || mask->numbers[b * tokens + t] != 0)
        rows.push_back(b * tokens + t);
    for (int64_t row : rows)
      for (int64_t c = 0; c < columns; ++c)
        out.numbers[row * columns + c] =
            gradient.numbers[b * columns + c] / double(rows.size());
  }
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, kernel::SimilarityOp op) {
  run.outputs[op.getName().str()] =
      similarityOf(run.at(op.getLeft()), run.at(op.getRight()));
  return Status::done;
}

// Tokens from the last to the first, in both dialects.
// Must not move a token to another sequence.
#include "compiler/interpret/Run.h"

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;

namespace {

Status reverse(Run &run, Operation *op, const Tensor &input, mlir::Value mask,
               int64_t tokens, mlir::Value result) {
  const Tensor *shown = run.find(mask);
  const int64_t rows = rowsOf(input), columns = columnsOf(input);
  if (Status s = expectCount(op, "key_mask", shown, rows); failed(s))
    return s;
  if (tokens < 1 || rows % tokens) {
    op->emitError() << "input has " << rows << " rows but tokens is " << tokens;
    return Status::input;
  }
  Tensor out = zeros(input.shape);
  for (int64_t m = 0; m < rows; ++m) {
    const int64_t from = m / tokens * tokens + tokens - 1 - m % tokens;
    for (int64_t c = 0; c < columns && (!shown || shown->numbers[m] != 0); ++c)
      out.numbers[m * columns + c] = input.numbers[from * columns + c];
  }
  run.set(result, std::move(out));
  return Status::done;
}

} // namespace

Status mille::interpreter::runOp(Run &run, transformer::ReverseTokensOp op) {
  const Tensor &input = run.at(op.getInput());
  return reverse(run, op, input, op.getKeyMask(), input.shape[1],
                 op.getResult());
}

Status mille::interpreter::runOp(Run &run, kernel::ReverseTokensOp op) {
  return reverse(run, op, run.at(op.getInput()), op.getKeyMask(),
                 run.index(op.getTokens()), op.getResult());
}

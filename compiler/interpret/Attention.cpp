// `attend` and `linear_attend` of the transformer dialect: sequences and heads.
// What one head computes is in AttendHead.cpp; must not know kernel ops.
#include "compiler/interpret/Attend.h"

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;

Status mille::interpreter::runOp(Run &run, tf::AttendOp op) {
  Attend attend(run, op);
  if (Status s = attend.prepare(); failed(s))
    return s;
  Tensor out = zeros({attend.streams.batch, attend.streams.query.shape[1],
                      int64_t(op.getHeads() * op.getValueDim())});
  attend.forEachHead(
      out, [&](int64_t, int64_t) { attendHead(attend.streams.head); });
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

Status mille::interpreter::runOp(Run &run, tf::LinearAttendOp op) {
  Streams<tf::LinearAttendOp> streams(run, op, 1);
  if (Status s = streams.check(op); failed(s))
    return s;
  const Tensor *mask = run.find(op.getKeyMask());
  if (Status s = expectCount(op, "key_mask", mask, rowsOf(streams.key));
      failed(s))
    return s;
  std::vector<double> decay;
  if (Status s = numbersPerHead(run, op.getDecayAttr(), op, decay); failed(s))
    return s;
  int64_t heads = op.getHeads(), sequence = 0;
  Tensor out = zeros(
      {streams.batch, streams.queries, int64_t(heads * op.getValueDim())});
  auto sees = [&](int64_t, int64_t j) {
    return !mask || mask->numbers[sequence * streams.keys + j] != 0;
  };
  streams.head.sees = sees;
  if (op.getState()) {
    Recurrence all{streams.head, heads, run.at(op.getPast()), decay, {}, {}};
    auto enter = [&](int64_t b, int64_t h) {
      sequence = b;
      streams.enter(b, h, out);
      all.head = streams.head;
    };
    auto shown = [&](int64_t b) {
      return tokensShown(mask, b, streams.queries);
    };
    all.enter = enter;
    all.tokensOf = shown;
    run.recur(op.getState(), op.getIndex(), all);
    run.set(op.getResult(), std::move(out));
    return Status::done;
  }
  for (int64_t b = 0; b < streams.batch; ++b)
    for (int64_t h = 0; h < heads; ++h) {
      sequence = b;
      streams.enter(b, h, out);
      attendLinearly(streams.head, decay[h]);
    }
  run.set(op.getResult(), std::move(out));
  return Status::done;
}

// The gradient of `attend`: sequences and heads. What one head computes is in
// AttendHead.cpp.
#include "compiler/interpret/Attend.h"

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;

namespace {

// The gradient of a parameter [heads], or null where there is none.
Status perHead(Run &run, FlatSymbolRefAttr name, Operation *op,
               Tensor *&gradient) {
  gradient = name ? run.gradient(op, name) : nullptr;
  return name && !gradient ? Status::input : Status::done;
}

} // namespace

Status mille::interpreter::runOp(Run &run, tf::AttendGradientOp op) {
  Attend attend(run, op);
  const auto &streams = attend.streams;
  const Tensor &gradient = run.at(op.getGradient());
  Tensor output = run.at(op.getOutput());
  Tensor *sinks, *headScales;
  int64_t numbers = rowsOf(streams.query) * op.getHeads() * op.getValueDim();
  for (Status s :
       {attend.prepare(), expectCount(op, "gradient", &gradient, numbers),
        expectCount(op, "output", &output, numbers),
        perHead(run, op.getSinkAttr(), op, sinks),
        perHead(run, op.getHeadScaleAttr(), op, headScales)})
    if (failed(s))
      return s;
  Tensor query = zeros(streams.query.shape), key = zeros(streams.key.shape),
         value = zeros(streams.value.shape);
  SmallVector<Tensor> biases;
  for (int64_t number : op.getBiasGradients().value_or(ArrayRef<int64_t>()))
    biases.push_back(zeros(run.at(op.getBiases()[number]).shape));
  attend.forEachHead(output, [&](int64_t s, int64_t h) {
    const Head &head = streams.head;
    auto toBiases = [&](int64_t i, int64_t j, double score) {
      for (Tensor &bias : biases)
        bias.numbers[attend.placeInBias(s, h, i, j)] += score;
    };
    auto toFactor = [&](int64_t i, double factor) {
      if (headScales)
        headScales->numbers[h] += factor * attend.lengthFactorOf(s, i);
    };
    HeadGradient into;
    into.gradient = gradient.numbers.data() + (head.out - &output.numbers[0]);
    into.query = &query.numbers[head.query - &streams.query.numbers[0]];
    into.key = &key.numbers[head.key - &streams.key.numbers[0]];
    into.value = &value.numbers[head.value - &streams.value.numbers[0]];
    into.score = toBiases;
    into.factor = toFactor;
    attendHeadGradient(head, into);
    if (sinks)
      sinks->numbers[h] += into.sink;
  });
  run.set(op.getQueryGradient(), std::move(query));
  run.set(op.getKeyGradient(), std::move(key));
  run.set(op.getValueGradient(), std::move(value));
  for (auto [result, bias] : llvm::zip_equal(op.getToBiases(), biases))
    run.set(result, std::move(bias));
  return Status::done;
}

// Fuses two matmuls of one input, and the gate that reads them, into one matmul
// with two accumulators. Must not fuse matmuls of different inputs.
#include "compiler/fuse/FusionReport.h"
#include "compiler/fuse/MergeRows.h"
#include "compiler/fuse/Passes.h"

namespace mille {
#define GEN_PASS_DEF_FUSEGATEUP
#include "compiler/fuse/Passes.h.inc"
} // namespace mille

using namespace mlir;
using namespace mille;
using kernel::MatmulOp;
using kernel::RowsOp;

namespace {

// Why the products of `gate` and `up` cannot be one; empty where they can.
std::string whyNotJoin(RowsOp op, MatmulOp gate, MatmulOp up) {
  for (MatmulOp matmul : {gate, up}) {
    if (std::string why = whyNotMerge(op, matmul.getResult()); !why.empty())
      return why;
    if (matmul.getAccumulators() != 1)
      return "a product has two accumulators already";
    if (!matmul.getWeight().getDefiningOp<kernel::WeightOp>())
      return "a weight is not a parameter";
    if (matmul.getStarts() != gate.getStarts())
      return "the products are not of the same experts";
  }
  return "";
}

// The rows of both weights, or of each expert's: [entries, 2 N, K].
Attribute joinWeights(Attribute gate, Attribute up, bool ofExperts) {
  MLIRContext *context = gate.getContext();
  auto swapped = [&](Attribute value) -> Attribute {
    if (!ofExperts)
      return value;
    return transformer::PermuteAttr::get(
        context, value, DenseI64ArrayAttr::get(context, {1, 0, 2}));
  };
  return swapped(
      transformer::ConcatAttr::get(context, {swapped(gate), swapped(up)}));
}

Operation *join(RowsOp op, MatmulOp gate, MatmulOp up) {
  OpBuilder builder(op);
  SmallVector<Value> extras;
  auto place = [&](Value value) -> size_t {
    auto found = llvm::find(extras, value);
    if (found == extras.end())
      found = (extras.push_back(value), extras.end() - 1);
    return found - extras.begin();
  };
  // Per region, where its arguments after the accumulator are among `extras`.
  SmallVector<size_t> ofGate, ofUp, ofOp;
  for (Value value : gate.getExtras())
    ofGate.push_back(place(value));
  for (Value value : up.getExtras())
    ofUp.push_back(place(value));
  for (Value value : op.getInputs())
    ofOp.push_back(value == gate.getResult() || value == up.getResult()
                       ? 0
                       : place(value));

  auto value = [](MatmulOp matmul) {
    return matmul.getWeight().getDefiningOp<kernel::WeightOp>().getValue();
  };
  auto part = cast<RankedTensorType>(gate.getWeight().getType());
  auto shape = llvm::to_vector(part.getShape());
  shape[shape.size() - 2] *= 2;
  auto weight = kernel::WeightOp::create(
      builder, gate.getLoc(),
      RankedTensorType::get(shape, part.getElementType()),
      joinWeights(value(gate), value(up), bool(gate.getStarts())));
  Value joined = makeMatmul(
      builder, op.getLoc(), gate.getInput(), weight, gate.getStarts(), extras,
      2, op.getOut(), [&](OpBuilder &inner, Location, ValueRange arguments) {
        auto product = [&](MatmulOp matmul, int accumulator,
                           ArrayRef<size_t> places) {
          SmallVector<Value> inputs{arguments[accumulator]};
          for (size_t at : places)
            inputs.push_back(arguments[2 + at]);
          return inlineScalar(inner, matmul.getEpilogue(), inputs);
        };
        Value first = product(gate, 0, ofGate), second = product(up, 1, ofUp);
        SmallVector<Value> inputs;
        for (auto [input, at] : llvm::zip(op.getInputs(), ofOp))
          inputs.push_back(input == gate.getResult() ? first
                           : input == up.getResult() ? second
                                                     : arguments[2 + at]);
        return inlineScalar(inner, op.getBody(), inputs);
      });
  op.getResult().replaceAllUsesWith(joined);
  op.erase();
  gate.erase();
  up.erase();
  return joined.getDefiningOp();
}

struct FuseGateUp : mille::impl::FuseGateUpBase<FuseGateUp> {
  void runOnOperation() override {
    for (auto function : getOperation().getBody().getOps<func::FuncOp>())
      run(function);
  }

  void run(func::FuncOp function) {
    FusionReport report(function, boundary::gateUp);
    SmallVector<RowsOp> candidates;
    function.walk([&](RowsOp op) { candidates.push_back(op); });
    for (RowsOp op : candidates) {
      SmallVector<Value> inputs = elementInputs(op);
      if (!isElementwise(op) || inputs.size() != 2)
        continue;
      auto gate = inputs[0].getDefiningOp<MatmulOp>();
      auto up = inputs[1].getDefiningOp<MatmulOp>();
      if (!gate || !up || gate.getInput() != up.getInput())
        continue;
      if (std::string why = whyNotJoin(op, gate, up); !why.empty()) {
        report.declined(op, why);
        continue;
      }
      // The input is read once less; gate and up are neither written nor read.
      int64_t bytes =
          rowBytes(gate.getInput()) + 4 * rowBytes(gate.getResult());
      report.fused(join(op, gate, up), bytes, 2,
                   "one matmul with two accumulators");
    }
    eraseDead(function);
  }
};

} // namespace

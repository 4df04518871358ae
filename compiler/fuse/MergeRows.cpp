// Merges an elementwise `rows` op into the kernel that makes its input: the one
// mechanism behind every fusion into an epilogue.
// Must not choose which ops to merge, nor name the boundary: the passes do.
#include "compiler/fuse/MergeRows.h"
#include "compiler/fuse/Boundaries.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"
#include "runtime/abi.h"

using namespace mlir;
using namespace mille;
using kernel::MatmulOp;
using kernel::RowsOp;

bool mille::isElementwise(RowsOp op) {
  return !op.getNorm() && op.getIndices().empty() && op.getResult();
}

int64_t mille::rowBytes(Value value) {
  return 4 * cast<ShapedType>(value.getType()).getShape().back();
}

static kernel::Access accessIn(RowsOp op, Value input) {
  int64_t columns = cast<ShapedType>(op.getOut().getType()).getShape().back();
  return kernel::accessOf(cast<ShapedType>(input.getType()), columns)
      .value_or(kernel::Access::element);
}

SmallVector<Value> mille::elementInputs(RowsOp op) {
  SmallVector<Value> inputs;
  for (auto [input, gather] : llvm::zip(op.getInputs(), op.getGather()))
    if (gather < 0 && accessIn(op, input) == kernel::Access::element &&
        !llvm::is_contained(inputs, input))
      inputs.push_back(input);
  return inputs;
}

std::string mille::whyNotMerge(RowsOp consumer, Value input) {
  Operation *producer = input.getDefiningOp();
  if (producer->getBlock() != consumer->getBlock())
    return missing::outside.str();
  if (!llvm::all_of(input.getUsers(), [&](Operation *user) {
        return user == consumer.getOperation();
      }))
    return "the value has another reader";
  if (auto matmul = dyn_cast<MatmulOp>(producer); matmul && matmul.getHeads())
    return "the columns are split by head";
  // Each op has a destination; the value itself is no operand of the merged op.
  if (producer->getNumOperands() + consumer->getNumOperands() - 2 >
      MILLE_MAX_BUFFERS)
    return "the merged kernel would have more than 16 buffers";
  return "";
}

Value mille::inlineScalar(OpBuilder &builder, Region &region,
                          ValueRange arguments) {
  IRMapping mapping;
  mapping.map(region.getArguments(), arguments);
  for (Operation &op : region.front().without_terminator())
    builder.clone(op, mapping);
  return mapping.lookupOrDefault(region.front().getTerminator()->getOperand(0));
}

bool mille::sameScalar(Region &a, Region &b) {
  if (a.getNumArguments() != b.getNumArguments())
    return false;
  IRMapping mapping;
  mapping.map(a.getArguments(), b.getArguments());
  Block &first = a.front(), &second = b.front();
  if (first.getOperations().size() != second.getOperations().size())
    return false;
  for (auto [x, y] : llvm::zip(first, second)) {
    if (x.getName() != y.getName() ||
        x.getAttrDictionary() != y.getAttrDictionary() ||
        x.getNumOperands() != y.getNumOperands() ||
        x.getNumResults() != y.getNumResults())
      return false;
    for (auto [from, to] : llvm::zip(x.getOperands(), y.getOperands()))
      if (mapping.lookupOrNull(from) != to)
        return false;
    mapping.map(x.getResults(), y.getResults());
  }
  return true;
}

namespace {

// The operands of the merged op, each value once, and where each of the
// consumer's inputs is among them.
struct Operands {
  SmallVector<Value> values;
  SmallVector<bool> shareable; // may be read by the consumer too

  size_t add(Value value) {
    for (size_t i = 0; i < values.size(); ++i)
      if (shareable[i] && values[i] == value)
        return i;
    values.push_back(value);
    shareable.push_back(true);
    return values.size() - 1;
  }
};

} // namespace

Operation *mille::mergeInto(RowsOp consumer, Value input) {
  Operation *producer = input.getDefiningOp();
  auto matmul = dyn_cast<MatmulOp>(producer);
  auto rows = dyn_cast<RowsOp>(producer);
  Region &first = matmul ? matmul.getEpilogue() : rows.getBody();
  int64_t accumulators = matmul ? matmul.getAccumulators() : 0;

  Operands operands;
  for (auto [i, value] :
       llvm::enumerate(matmul ? matmul.getExtras() : rows.getInputs())) {
    operands.values.push_back(value);
    // An input that is normed or gathered is not read as it is, so the consumer
    // cannot read it in the same operand.
    operands.shareable.push_back(
        matmul || (rows.getGather()[i] < 0 && !(rows.getNorm() && i == 0)));
  }
  SmallVector<int64_t> places; // of the consumer's inputs, -1: the merged value
  for (Value other : consumer.getInputs())
    places.push_back(other == input ? -1 : int64_t(operands.add(other)));

  OpBuilder builder(consumer);
  Location location = consumer.getLoc();
  auto scalar = [&](OpBuilder &inner, Location, ValueRange arguments) {
    Value made = inlineScalar(inner, first,
                              arguments.take_front(first.getNumArguments()));
    SmallVector<Value> inputs;
    for (int64_t place : places)
      inputs.push_back(place < 0 ? made : arguments[accumulators + place]);
    return inlineScalar(inner, consumer.getBody(), inputs);
  };
  Value merged;
  if (matmul) {
    merged = makeMatmul(builder, location, matmul.getInput(),
                        matmul.getWeight(), matmul.getStarts(), operands.values,
                        accumulators, consumer.getOut(), scalar);
  } else {
    SmallVector<int64_t> gather(rows.getGather());
    gather.resize(operands.values.size(), -1);
    auto op = RowsOp::create(builder, location, consumer.getResult().getType(),
                             operands.values, rows.getIndices(),
                             consumer.getOut(), gather, rows.getNormAttr());
    fillScalarRegion(builder, location, op.getBody(), operands.values.size(),
                     scalar);
    merged = op.getResult();
  }
  consumer.getResult().replaceAllUsesWith(merged);
  consumer.erase();
  producer->erase();
  return merged.getDefiningOp();
}

void mille::eraseDead(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  (void)runRegionDCE(rewriter, function->getRegions());
}

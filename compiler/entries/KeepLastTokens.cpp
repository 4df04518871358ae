// Takes the last token of each sequence before the ops that compute each token
// by itself: the final norm and the head. Must not change ops that read other
// tokens.
#include "compiler/entries/KeepLastTokens.h"
#include "dialects/kernel/Signature.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mille;
using namespace mille::entries;
using namespace mille::transformer;

namespace {

RankedTensorType withoutTokens(Type type) {
  auto tokens = cast<RankedTensorType>(type);
  return RankedTensorType::get({tokens.getDimSize(0), tokens.getDimSize(2)},
                               tokens.getElementType());
}

class LastTokens {
public:
  explicit LastTokens(func::FuncOp entry)
      : entry(entry), mask(kernel::maskOf(entry)), builder(entry.getContext()) {
  }

  void run() {
    Operation *end = entry.front().getTerminator();
    for (OpOperand &output : end->getOpOperands())
      output.set(lastOf(output.get()));
    entry.setFunctionType(builder.getFunctionType(entry.getArgumentTypes(),
                                                  end->getOperandTypes()));
    for (unsigned i = 0; i < entry.getNumResults(); ++i)
      if (auto shape =
              entry.getResultAttrOfType<ShapeAttr>(i, "transformer.shape"))
        entry.setResultAttr(
            i, "transformer.shape",
            ShapeAttr::get(entry.getContext(), {shape.getShape().front(),
                                                shape.getShape().back()}));
    for (Operation *op : llvm::reverse(replaced))
      if (op->use_empty())
        op->erase();
  }

private:
  // The rows of the last tokens of a value [batch, tokens, channels].
  Value lastOf(Value value) {
    Value &known = made[value];
    if (known)
      return known;
    Operation *op = value.getDefiningOp();
    const bool isLocal = op && isa<NormOp, LinearOp, SoftcapOp, AffineOp,
                                   ActivateOp, GateOp, ClampOp, AddOp>(op);
    return made[value] = isLocal ? onLast(op) : pool(value);
  }

  // A copy of the op for the last tokens.
  Value onLast(Operation *op) {
    IRMapping to;
    for (Value operand : op->getOperands())
      to.map(operand, lastOf(operand));
    builder.setInsertionPoint(entry.front().getTerminator());
    Operation *again = builder.clone(*op, to);
    for (Value result : again->getResults())
      result.setType(withoutTokens(result.getType()));
    replaced.push_back(op);
    return again->getResult(0);
  }

  Value pool(Value value) {
    builder.setInsertionPoint(entry.front().getTerminator());
    return PoolOp::create(builder, value.getLoc(),
                          withoutTokens(value.getType()), value, mask, Value(),
                          Pool::last);
  }

  func::FuncOp entry;
  Value mask;
  OpBuilder builder;
  DenseMap<Value, Value> made;
  SmallVector<Operation *> replaced;
};

} // namespace

void mille::entries::keepLastTokens(func::FuncOp entry) {
  LastTokens(entry).run();
}

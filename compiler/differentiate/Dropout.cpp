// Puts dropout where the Transformer of Vaswani et al. has it, but for the
// weights of attention: after embeddings, and after each branch before it is
// added.
#include "compiler/differentiate/Dropout.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mille::transformer;

namespace {

// Streams only: [batch, tokens, channels].
bool isStream(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getRank() == 3 && isa<FloatType>(type.getElementType());
}

// What a unit reads of an embedding.
Value ofEmbedding(EmbedOp embed) {
  Value value = embed.getResult();
  auto norm =
      value.hasOneUse() ? dyn_cast<NormOp>(*value.user_begin()) : NormOp();
  return norm ? norm.getResult() : value;
}

} // namespace

void mille::differentiate::addDropout(func::FuncOp step, double rate,
                                      Value stepNumber, Value firstSequence) {
  SmallVector<OpOperand *> branches;
  SmallVector<Value> embeddings;
  step.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto embed = dyn_cast<EmbedOp>(op))
      embeddings.push_back(ofEmbedding(embed));
    if (auto unit = dyn_cast<ResidualOp>(op))
      for (Region &branch : unit.getBranches())
        branches.push_back(&branch.front().getTerminator()->getOpOperand(0));
  });
  OpBuilder builder(step.getContext());
  int64_t site = 0;
  // A key of its own: other draws have their names in theirs.
  constexpr int64_t seed = 0;
  auto drop = [&](Value value) -> Value {
    return DropoutOp::create(builder, value.getLoc(), value, stepNumber,
                             firstSequence, builder.getF64FloatAttr(rate),
                             builder.getI64IntegerAttr(seed),
                             builder.getI64IntegerAttr(site++));
  };
  for (Value value : embeddings) {
    if (!isStream(value))
      continue;
    builder.setInsertionPointAfterValue(value);
    Value dropped = drop(value);
    value.replaceAllUsesExcept(dropped, dropped.getDefiningOp());
  }
  for (OpOperand *yielded : branches) {
    builder.setInsertionPoint(yielded->getOwner());
    yielded->set(drop(yielded->get()));
  }
}

// Changes the types of values, and of what they are written to.
// Must not add an op that computes.
#include "compiler/plan/NarrowValues.h"
#include "compiler/plan/Lives.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mille::kernel;

namespace mille::plan {

RankedTensorType withElements(Type tensor, Type element) {
  return RankedTensorType::get(cast<RankedTensorType>(tensor).getShape(),
                               element);
}

bool yieldsFromLaunch(OpOperand &use) {
  return isa<YieldOp>(use.getOwner()) &&
         isa<LaunchOp>(use.getOwner()->getParentOp());
}

Value destinationLike(OpBuilder builder, Value like, Type type) {
  return tensor::EmptyOp::create(
      builder, like.getLoc(), cast<RankedTensorType>(type),
      like.getDefiningOp<tensor::EmptyOp>().getDynamicSizes());
}

void holdAs(Type element, Value root,
            llvm::function_ref<bool(OpOperand &)> readsNarrow) {
  Operation *maker = root.getDefiningOp();
  if (!cast<ShapedType>(root.getType()).getElementType().isF32() ||
      !isa_and_nonnull<MatmulOp, RowsOp, AttentionOp, RotateOp>(maker))
    return;
  SmallVector<Value, 2> names = namesOf(root);
  for (Value name : names)
    for (OpOperand &use : name.getUses())
      if (!readsNarrow(use))
        return;
  for (Value name : names)
    name.setType(withElements(name.getType(), element));
  OpOperand &out =
      *cast<DestinationStyleOpInterface>(maker).getDpsInitOperand(0);
  Operation *old = out.get().getDefiningOp();
  out.set(destinationLike(OpBuilder(maker), out.get(), root.getType()));
  if (old->use_empty())
    old->erase();
}

static void handOut(LaunchOp old, ArrayRef<Value> made) {
  auto yield = cast<YieldOp>(old.getBody().front().getTerminator());
  yield->insertOperands(yield->getNumOperands(), made);
  OpBuilder builder(old);
  auto fresh =
      LaunchOp::create(builder, old.getLoc(), yield.getValues().getTypes());
  fresh.getBody().takeBody(old.getBody());
  fresh->setDiscardableAttrs(old->getDiscardableAttrDictionary());
  old->replaceAllUsesWith(fresh->getResults().drop_back(made.size()));
  old.erase();
}

SmallVector<Value> seenFrom(Operation *reader, ArrayRef<Value> made) {
  auto launch = dyn_cast<LaunchOp>(made.front().getDefiningOp()->getParentOp());
  if (!launch || reader->getParentOp() == launch)
    return SmallVector<Value>(made);
  if (namesOf(made.front()).size() == 1)
    handOut(launch, made);
  return llvm::map_to_vector(made,
                             [](Value value) { return namesOf(value).back(); });
}

} // namespace mille::plan

// Follows parameters through the ops of an entry: what reads an active value or
// names a parameter is active. Integers never are.
#include "compiler/differentiate/Activity.h"

using namespace mlir;
using namespace mille::differentiate;
using namespace mille::transformer;

namespace {

bool namesSymbols(Operation &op) {
  bool names = false;
  op.getAttrDictionary().walk([&](FlatSymbolRefAttr) { names = true; });
  return names;
}

bool holdsFloats(Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

} // namespace

void Activity::visit(Block &block) {
  for (Operation &op : block)
    visit(op);
}

// The argument of a region is what the op reads, or made of it; the op's result
// is made of what its regions yield. A body of layers reads what it yields.
void Activity::visit(Operation &op) {
  // Of a sum the terms matter, not the value whose rows it has.
  if (auto collect = dyn_cast<CollectOp>(op);
      collect && isActive(collect.getValue()))
    sums.insert(collect.getNameAttr());
  if (auto collected = dyn_cast<CollectedOp>(op)) {
    if (sums.contains(collected.getNameAttr()))
      active.insert(collected.getResult());
    return;
  }
  auto isActiveNow = [&](Value value) { return active.contains(value); };
  bool any = namesSymbols(op) || llvm::any_of(op.getOperands(), isActiveNow);
  auto enter = [&] {
    for (Region &region : op.getRegions()) {
      if (any)
        for (BlockArgument argument : region.getArguments())
          active.insert(argument);
      visit(region.front());
    }
  };
  enter();
  bool yields = any;
  for (Region &region : op.getRegions())
    yields |= llvm::any_of(region.front().getTerminator()->getOperands(),
                           isActiveNow);
  if (isa<LayersOp>(op) && yields && !any) {
    any = true;
    enter();
  }
  if (yields)
    for (Value result : op.getResults())
      if (holdsFloats(result))
        active.insert(result);
}

// Turns pre-norm units with a normed skip, closed by a norm, into post-norm
// units. Must not reorder operations: only the borders of units move.
#include "compiler/rewrite/RewriteLog.h"
#include "compiler/rewrite/Units.h"

namespace mille::rewrite {
#define GEN_PASS_DEF_ROTATENORMS
#include "compiler/rewrite/Passes.h.inc"
} // namespace mille::rewrite

using namespace mlir;
using namespace mille::rewrite;
using namespace mille::transformer;

namespace {

using Stack = SmallVector<ResidualOp>;

// Finds sequences of units with a normed skip, each reading the one before.
SmallVector<Stack> normedSkips(Block &block) {
  SmallVector<Stack> stacks;
  for (auto unit : block.getOps<ResidualOp>()) {
    if (unit.getTap() != Tap::normed)
      continue;
    if (stacks.empty() || unit.getInput() != stacks.back().back().getResult())
      stacks.emplace_back();
    stacks.back().push_back(unit);
  }
  return stacks;
}

NormAttr inNorm(ResidualOp unit) {
  return cast<NormAttr>(unit.getInNormAttr()[0]);
}

// The norm that is the only reader of the stack's result, or null.
NormOp closing(ArrayRef<ResidualOp> stack) {
  Value end = stack.back()->getResult(0);
  return end.hasOneUse() ? dyn_cast<NormOp>(*end.user_begin()) : NormOp();
}

StringRef whyNotByLaw(ArrayRef<ResidualOp> stack) {
  for (ResidualOp unit : stack) {
    if (unit.getOutNormAttr())
      return "a unit has an out_norm of its own";
    if (unit.getStreamScaleAttr())
      return "a stream scale stands between the units";
    if (unit == stack.back())
      break;
    for (Operation *user : unit.getResult().getUsers())
      if (isa<KeepOp>(user))
        return "hidden states keep the stream between the units";
    if (!unit.getResult().hasOneUse())
      return "something else reads the stream between the units";
  }
  return closing(stack) ? "" : "no norm closes the stack";
}

// Whether norms differ in their parameters only, so that layers stay equal.
bool alike(NormAttr a, NormAttr b) {
  return a.getKind() == b.getKind() && a.getEps() == b.getEps() &&
         a.getAffine() == b.getAffine() && !a.getBias() == !b.getBias() &&
         a.getGroup() == b.getGroup();
}

Cost costOf(ArrayRef<ResidualOp> stack) {
  if (!alike(inNorm(stack.front()), closing(stack).getNorm()))
    return {"the closing norm is not like the others",
            "bodies of the last layer alone", 0, 1};
  if (llvm::none_of(stack, [](ResidualOp unit) {
        return isConstantBesides1(unit.getSkipScaleAttr());
      }))
    return {"the same kernels either way, and no skip scale to exchange",
            "norms", int64_t(stack.size()) + 1, int64_t(stack.size()) + 1};
  return {};
}

void rotate(ArrayRef<ResidualOp> stack) {
  NormOp last = closing(stack);
  ResidualOp first = stack.front();
  OpBuilder builder(first);
  Value stream =
      NormOp::create(builder, first.getLoc(), first.getInput(), inNorm(first));
  first.getInputMutable().assign(stream);
  for (auto [unit, next] : llvm::zip(stack.drop_back(), stack.drop_front()))
    ResidualOp(unit).setOutNormAttr(inNorm(next));
  ResidualOp(stack.back()).setOutNormAttr(last.getNorm());
  for (ResidualOp unit : stack) {
    unit.removeInNormAttr();
    unit.setTap(Tap::input);
  }
  last.getResult().replaceAllUsesWith(ResidualOp(stack.back()).getResult());
  last.erase();
}

struct RotateNorms : mille::rewrite::impl::RotateNormsBase<RotateNorms> {
  using RotateNormsBase::RotateNormsBase;

  void runOnOperation() override {
    for (auto function : getOperation().getBody().getOps<func::FuncOp>()) {
      RewriteLog log(function, "rotate-norms");
      for (const Stack &stack : normedSkips(function.front()))
        run(stack, log);
    }
  }

  void run(ArrayRef<ResidualOp> stack, RewriteLog &log) {
    StringRef law = whyNotByLaw(stack);
    Cost cost;
    if (law.empty() && byCost)
      cost = costOf(stack);
    for (ResidualOp unit : stack)
      if (!law.empty())
        log.declinedByLaw(unit, law);
      else if (cost)
        log.declinedByCost(unit, cost);
      else
        log.applied(unit, "the norm before the next unit ends this one");
    if (law.empty() && !cost)
      rotate(stack);
  }
};

} // namespace

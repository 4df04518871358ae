// Reports scales whose only reader is a norm, which undoes them except for its
// eps. Must not change the model.
#include "compiler/rewrite/RewriteLog.h"
#include "compiler/rewrite/Units.h"

namespace mille::rewrite {
#define GEN_PASS_DEF_FINDDEADSCALES
#include "compiler/rewrite/Passes.h.inc"
} // namespace mille::rewrite

using namespace mlir;
using namespace mille::rewrite;
using namespace mille::transformer;

namespace {

// Whether only norms read `value`: norm ops, units that norm every use of it,
// or the branch norm of the unit whose branch it ends.
bool onlyNormed(Value value) {
  return !value.use_empty() &&
         llvm::all_of(value.getUses(), [](OpOperand &use) {
           Operation *user = use.getOwner();
           if (auto norm = dyn_cast<NormOp>(user))
             return isNorm(norm.getNorm());
           if (auto unit = dyn_cast<ResidualOp>(user))
             return unit.getTap() == Tap::normed;
           auto unit = dyn_cast<ResidualOp>(user->getParentOp());
           return isa<YieldOp>(user) && unit &&
                  isNorm(entryOf<NormAttr>(
                      unit.getBranchNormAttr(),
                      user->getParentRegion()->getRegionNumber()));
         });
}

// The constant that multiplies the whole result of an op; 1 if there is none.
double scaleOf(Operation *op) {
  if (auto linear = dyn_cast<LinearOp>(op))
    return linear.getBiasAttr() ? 1 : linear.getScale().convertToDouble();
  if (auto embed = dyn_cast<EmbedOp>(op))
    return embed.getIds().size() == 1 ? embed.getScale().convertToDouble() : 1;
  if (auto affine = dyn_cast<AffineOp>(op); affine && !affine.getShiftAttr())
    return constantOf(affine.getScaleAttr()).value_or(1);
  return 1;
}

// The constant that skip and all branches of a unit with an out_norm share.
double sharedScale(ResidualOp unit) {
  std::optional<double> shared = constantOf(unit.getSkipScaleAttr());
  for (size_t i = 0; i < unit.getBranches().size(); ++i)
    if (constantOf(entryOf<ScaleAttr>(unit.getBranchScaleAttr(), i)) != shared)
      return 1;
  return isNorm(unit.getOutNormAttr()) ? shared.value_or(1) : 1;
}

struct FindDeadScales
    : mille::rewrite::impl::FindDeadScalesBase<FindDeadScales> {
  using FindDeadScalesBase::FindDeadScalesBase;

  void runOnOperation() override {
    for (auto function : getOperation().getBody().getOps<func::FuncOp>()) {
      RewriteLog log(function, "find-dead-scales");
      function.walk([&](Operation *op) {
        if (auto unit = dyn_cast<ResidualOp>(op)) {
          if (double scale = sharedScale(unit); scale != 1 && scale > 0)
            log.found(unit, formatDouble(scale) +
                                " of skip and branches is undone "
                                "by the norm of their sum, but for eps");
        } else if (double scale = scaleOf(op);
                   scale != 1 && scale > 0 && onlyNormed(op->getResult(0))) {
          log.found(op,
                    formatDouble(scale) + " of " +
                        op->getName().stripDialect().str() +
                        " is undone by the norm that reads it, but for eps");
        }
      });
    }
  }
};

} // namespace

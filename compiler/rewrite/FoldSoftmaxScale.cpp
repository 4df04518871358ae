// Folds a power of two that scales scores into the projection of the queries.
// Must not fold any other number, which would be rounded once more.
#include "compiler/rewrite/Derive.h"
#include "compiler/rewrite/RewriteLog.h"

namespace mille::rewrite {
#define GEN_PASS_DEF_FOLDSOFTMAXSCALE
#include "compiler/rewrite/Passes.h.inc"
} // namespace mille::rewrite

using namespace mlir;
using namespace mille::rewrite;
using namespace mille::transformer;

namespace {

// The op that makes the queries, before rotations: a linear, or a norm with a
// weight, that only attention reads. Null, with the reason, if it is neither.
Operation *makerOf(Value query, StringRef &whyNot) {
  for (;; query = query.getDefiningOp()->getOperand(0)) {
    if (!query.hasOneUse()) {
      whyNot = "something else reads the queries";
      return nullptr;
    }
    if (!query.getDefiningOp<RotateOp>())
      break;
  }
  Operation *maker = query.getDefiningOp();
  if (isa_and_nonnull<LinearOp>(maker))
    return maker;
  if (auto norm = dyn_cast_or_null<NormOp>(maker);
      norm && norm.getNorm().getAffine() == Affine::weight)
    return maker;
  whyNot = "the queries are made by neither a linear nor a norm with a weight";
  return nullptr;
}

void scale(Operation *maker, FloatAttr factor, Derive &derive) {
  if (auto linear = dyn_cast<LinearOp>(maker)) {
    linear.setWeightAttr(derive.scaled(linear.getWeightAttr(), factor));
    if (linear.getBiasAttr())
      linear.setBiasAttr(derive.scaled(linear.getBiasAttr(), factor));
    return;
  }
  auto op = cast<NormOp>(maker);
  NormAttr norm = op.getNorm();
  FlatSymbolRefAttr bias = norm.getBias();
  op.setNormAttr(NormAttr::get(
      norm.getContext(), norm.getKind(), norm.getEps(), norm.getAffine(),
      derive.scaled(norm.getWeight(), factor),
      bias ? derive.scaled(bias, factor) : bias, norm.getGroup()));
}

struct FoldSoftmaxScale
    : mille::rewrite::impl::FoldSoftmaxScaleBase<FoldSoftmaxScale> {
  using FoldSoftmaxScaleBase::FoldSoftmaxScaleBase;

  void runOnOperation() override {
    Derive derive(getOperation());
    for (auto function : getOperation().getBody().getOps<func::FuncOp>()) {
      RewriteLog log(function, "fold-softmax-scale");
      function.walk([&](AttendOp attend) {
        if (attend.getScale().convertToDouble() != 1)
          fold(attend, derive, log);
      });
    }
  }

  void fold(AttendOp attend, Derive &derive, RewriteLog &log) {
    FloatAttr factor = attend.getScaleAttr();
    StringRef whyNot;
    if (!isPowerOfTwo(factor.getValueAsDouble()))
      return log.declinedByLaw(attend,
                               "the scale is no power of two: it stays in "
                               "the constant of exp2");
    Operation *maker = makerOf(attend.getQuery(), whyNot);
    if (!maker)
      return log.declinedByLaw(attend, whyNot);
    if (byCost)
      return log.declinedByCost(attend,
                                {"attention multiplies queries by scale * "
                                 "log2 e, one constant, either way",
                                 "multiplications of a query", 1, 1});
    log.applied(attend, formatDouble(factor.getValueAsDouble()) +
                            " into what makes the queries");
    scale(maker, factor, derive);
    attend.setScaleAttr(FloatAttr::get(factor.getType(), 1));
  }
};

} // namespace

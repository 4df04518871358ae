// Folds a linear's constant multiplier into its weight.
// Must not touch the bias, which the multiplier does not scale.
#include "compiler/rewrite/Derive.h"
#include "compiler/rewrite/RewriteLog.h"

namespace mille::rewrite {
#define GEN_PASS_DEF_FOLDLINEARSCALES
#include "compiler/rewrite/Passes.h.inc"
} // namespace mille::rewrite

using namespace mlir;
using namespace mille::rewrite;
using namespace mille::transformer;

namespace {

struct FoldLinearScales
    : mille::rewrite::impl::FoldLinearScalesBase<FoldLinearScales> {
  using FoldLinearScalesBase::FoldLinearScalesBase;

  void runOnOperation() override {
    WeightReaders readers(getOperation());
    Derive derive(getOperation());
    for (auto function : getOperation().getBody().getOps<func::FuncOp>()) {
      RewriteLog log(function, "fold-linear-scales");
      SameFactors same;
      SmallVector<LinearOp> linears;
      function.walk([&](LinearOp linear) {
        if (linear.getScale().convertToDouble() == 1)
          return;
        same.add(linear.getWeightAttr(), linear.getScaleAttr());
        linears.push_back(linear);
      });
      for (LinearOp linear : linears)
        fold(linear, same.all(linear.getWeightAttr(), readers), derive, log);
    }
  }

  void fold(LinearOp linear, bool alone, Derive &derive, RewriteLog &log) {
    FloatAttr scale = linear.getScaleAttr();
    bool exact = isPowerOfTwo(scale.getValueAsDouble());
    if (byCost && !alone)
      return log.declinedByCost(linear, costOfCopy(linear));
    if (bitExact && !exact)
      return log.declinedBitExact(linear);
    log.applied(linear,
                formatDouble(scale.getValueAsDouble()) + " into the weight",
                exact);
    linear.setWeightAttr(derive.scaled(linear.getWeightAttr(), scale));
    linear.setScaleAttr(FloatAttr::get(scale.getType(), 1));
  }
};

} // namespace

// Folds constant and learned branch scales into the weight that ends the
// branch. Must not fold a schedule, which a run reads.
#include "compiler/rewrite/Derive.h"
#include "compiler/rewrite/RewriteLog.h"
#include "compiler/rewrite/Units.h"
#include "llvm/ADT/MapVector.h"

namespace mille::rewrite {
#define GEN_PASS_DEF_FOLDBRANCHSCALES
#include "compiler/rewrite/Passes.h.inc"
} // namespace mille::rewrite

using namespace mlir;
using namespace mille::rewrite;
using namespace mille::transformer;

namespace {

struct Fold {
  ResidualOp unit;
  size_t branch;
  BranchEnd end;
  Attribute factor; // an f64, or a parameter's symbol
  bool exact = false;
  StringRef law; // the reason against it
};

// The factor of the branch; null if there is nothing to fold.
Attribute factorOf(ScaleAttr scale, StringRef &whyNot) {
  if (!scale)
    return {};
  switch (scale.getKind()) {
  case ScaleKind::constant:
    if (scale.getSymbol())
      whyNot = "the scale is a column of the layer table";
    else if (double(scale.getValue()) == 1)
      return {};
    return FloatAttr::get(Float64Type::get(scale.getContext()),
                          scale.getValue());
  case ScaleKind::scheduled:
    whyNot = "the scale follows a schedule: it is read at run time";
    return UnitAttr::get(scale.getContext());
  case ScaleKind::learned_scalar:
  case ScaleKind::learned_channel:
    return scale.getSymbol();
  }
  llvm_unreachable("a ScaleKind has one of the values above");
}

std::optional<Fold> planOf(ResidualOp unit, size_t branch) {
  auto scale = entryOf<ScaleAttr>(unit.getBranchScaleAttr(), branch);
  Fold fold{unit, branch, {}, {}, false, ""};
  fold.factor = factorOf(scale, fold.law);
  if (!fold.factor)
    return std::nullopt;
  if (!fold.law.empty())
    return fold;
  fold.end = endOf(unit, branch);
  fold.law = fold.end.why;
  auto number = dyn_cast<FloatAttr>(fold.factor);
  fold.exact = number && isPowerOfTwo(number.getValueAsDouble());
  bool byChannel = scale.getKind() == ScaleKind::learned_channel;
  if (byChannel && fold.end.linear && fold.end.linear.getExperts())
    fold.law = "a vector of channels does not scale a stack of experts";
  return fold;
}

// B (n w + b). A norm with w = 1 + weight becomes one with an ordinary weight.
NormAttr scaledNorm(NormAttr norm, Attribute factor, Derive &derive) {
  MLIRContext *context = norm.getContext();
  Attribute weight = norm.getWeight();
  if (norm.getAffine() == Affine::one_plus_weight)
    weight = PlusAttr::get(context, weight,
                           FloatAttr::get(Float64Type::get(context), 1));
  FlatSymbolRefAttr bias = norm.getBias();
  return NormAttr::get(
      context, norm.getKind(), norm.getEps(), Affine::weight,
      derive.parameter(norm.getWeight(), "scaled",
                       TimesAttr::get(context, weight, factor)),
      bias ? derive.scaled(bias, factor) : bias, norm.getGroup());
}

// A list with one entry per branch, in which entry i is replaced.
template <typename Attr>
ArrayAttr replaced(ArrayAttr list, size_t branches, size_t i, Attr value) {
  SmallVector<Attribute> entries;
  for (size_t branch = 0; branch < branches; ++branch)
    entries.push_back(branch == i ? value : entryOf<Attr>(list, branch));
  return ArrayAttr::get(value.getContext(), entries);
}

void apply(const Fold &fold, Derive &derive) {
  ResidualOp unit = fold.unit;
  size_t branches = unit.getBranches().size();
  if (fold.end.norm) {
    unit.setBranchNormAttr(
        replaced(unit.getBranchNormAttr(), branches, fold.branch,
                 scaledNorm(fold.end.norm, fold.factor, derive)));
  } else {
    LinearOp linear = fold.end.linear;
    linear.setWeightAttr(derive.scaled(linear.getWeightAttr(), fold.factor));
    if (linear.getBiasAttr())
      linear.setBiasAttr(derive.scaled(linear.getBiasAttr(), fold.factor));
  }
  ArrayAttr scales = replaced(unit.getBranchScaleAttr(), branches, fold.branch,
                              constantScale(unit.getContext(), 1));
  if (llvm::all_of(scales.getAsRange<ScaleAttr>(),
                   [](ScaleAttr scale) { return constantOf(scale) == 1.0; }))
    unit.removeBranchScaleAttr();
  else
    unit.setBranchScaleAttr(scales);
}

std::string inWords(const Fold &fold) {
  std::string what =
      isa<FloatAttr>(fold.factor)
          ? formatDouble(cast<FloatAttr>(fold.factor).getValueAsDouble())
          : "a learned scale";
  return what +
         (fold.end.norm ? " into the branch norm" : " into the last linear");
}

struct FoldBranchScales
    : mille::rewrite::impl::FoldBranchScalesBase<FoldBranchScales> {
  using FoldBranchScalesBase::FoldBranchScalesBase;

  // All of a weight's readers are known before the first fold: those of one
  // function must not decide otherwise than those of another.
  void runOnOperation() override {
    WeightReaders readers(getOperation());
    SameFactors same;
    Derive derive(getOperation());
    llvm::MapVector<Operation *, SmallVector<Fold>> foldsOf;
    for (auto function : getOperation().getBody().getOps<func::FuncOp>())
      function.walk([&](ResidualOp unit) {
        for (size_t i = 0; i < unit.getBranches().size(); ++i)
          if (std::optional<Fold> fold = planOf(unit, i)) {
            if (fold->end.linear && fold->law.empty())
              same.add(fold->end.linear.getWeightAttr(), fold->factor);
            foldsOf[function].push_back(*fold);
          }
      });
    for (auto function : getOperation().getBody().getOps<func::FuncOp>()) {
      RewriteLog log(function, "fold-branch-scales");
      for (const Fold &fold : foldsOf[function]) {
        LinearOp linear = fold.end.linear;
        if (!fold.law.empty())
          log.declinedByLaw(fold.unit, fold.law);
        else if (byCost && linear && !same.all(linear.getWeightAttr(), readers))
          log.declinedByCost(fold.unit, costOfCopy(linear));
        else if (bitExact && !fold.exact)
          log.declinedBitExact(fold.unit);
        else {
          log.applied(fold.unit, inWords(fold), fold.exact);
          apply(fold, derive);
        }
      }
    }
  }
};

} // namespace

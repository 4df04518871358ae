// Folds a norm's weight and bias into the linears that read the normed rows.
// Must not fold if any other op reads them.
#include "compiler/rewrite/Derive.h"
#include "compiler/rewrite/RewriteLog.h"
#include "compiler/rewrite/Units.h"

namespace mille::rewrite {
#define GEN_PASS_DEF_FOLDNORMWEIGHTS
#include "compiler/rewrite/Passes.h.inc"
} // namespace mille::rewrite

using namespace mlir;
using namespace mille::rewrite;
using namespace mille::transformer;

namespace {

// A norm, the place of its attribute, and the linears that read its result.
struct Fold {
  Operation *at;
  NormAttr norm;
  int64_t entry = -1; // index in a unit's list of input norms; -1: a norm op
  SmallVector<LinearOp> linears;
  StringRef law; // the reason against it by the law
  Cost cost;
};

void collectReaders(Value normed, Fold &fold) {
  for (Operation *user : normed.getUsers()) {
    auto linear = dyn_cast<LinearOp>(user);
    if (!linear)
      fold.law = "something else than a linear reads the normed rows";
    else if (linear.getExperts())
      fold.law = "a stack of experts reads the normed rows";
    else if (fold.norm.getBias() && linear.getScale().convertToDouble() != 1)
      fold.law = "a linear's scale does not multiply the norm's bias";
    else
      fold.linears.push_back(linear);
    if (linear && fold.norm.getBias() && !linear.getBiasAttr())
      fold.cost = {"linears without a bias would get one", "biases to add", 1,
                   fold.cost.rewritten + 1};
  }
  if (fold.norm.getGroup())
    fold.law = "the norm is one of groups";
  if (normed.use_empty())
    fold.law = "nothing reads the normed rows";
}

// Finds the units' input norms and the norm ops that have a weight or a bias.
SmallVector<Fold> plansOf(func::FuncOp function) {
  SmallVector<Fold> folds;
  function.walk([&](Operation *op) {
    if (auto norm = dyn_cast<NormOp>(op)) {
      folds.push_back({op, norm.getNorm(), -1, {}, "", {}});
      collectReaders(norm.getResult(), folds.back());
    }
    auto unit = dyn_cast<ResidualOp>(op);
    if (!unit || !unit.getInNormAttr())
      return;
    for (auto [i, norm] :
         llvm::enumerate(unit.getInNormAttr().getAsRange<NormAttr>())) {
      Fold fold{op, norm, int64_t(i), {}, "", {}};
      for (auto [branch, region] : llvm::enumerate(unit.getBranches()))
        if (unit.getInNormAttr().size() == 1 || branch == i)
          collectReaders(region.getArgument(0), fold);
      if (unit.getTap() == Tap::normed)
        fold.law = "the skip reads the normed rows";
      folds.push_back(fold);
    }
  });
  llvm::erase_if(folds, [](const Fold &fold) {
    return !fold.norm.getWeight() && !fold.norm.getBias();
  });
  return folds;
}

int64_t channelsOf(Value stream) {
  return cast<ShapedType>(stream.getType()).getShape().back();
}

// W diag g, in both affine forms.
Attribute byColumn(FlatSymbolRefAttr weight, NormAttr norm, int64_t channels) {
  MLIRContext *context = weight.getContext();
  Attribute gain = norm.getWeight();
  if (!gain)
    return weight;
  if (norm.getAffine() == Affine::one_plus_weight)
    gain = PlusAttr::get(context, gain,
                         FloatAttr::get(Float64Type::get(context), 1));
  Attribute row = ReshapeAttr::get(
      context, gain, DenseI64ArrayAttr::get(context, {1, channels}));
  return TimesAttr::get(context, weight, row);
}

// W c + b, [out]
Attribute withShift(LinearOp linear, FlatSymbolRefAttr shift, Derive &derive) {
  MLIRContext *context = linear.getContext();
  int64_t in = channelsOf(linear.getInput()),
          out = channelsOf(linear.getResult());
  auto shape = [&](std::initializer_list<int64_t> extents) {
    return DenseI64ArrayAttr::get(context, extents);
  };
  Attribute row = ReshapeAttr::get(context, shift, shape({1, in}));
  Attribute sum = ReshapeAttr::get(
      context, ProductAttr::get(context, linear.getWeightAttr(), row),
      shape({out}));
  return linear.getBiasAttr()
             ? PlusAttr::get(context, sum, linear.getBiasAttr())
             : sum;
}

void apply(const Fold &fold, Derive &derive) {
  NormAttr norm = fold.norm,
           bare =
               NormAttr::get(norm.getContext(), norm.getKind(), norm.getEps(),
                             Affine::none, {}, {}, norm.getGroup());
  for (LinearOp linear : fold.linears) {
    FlatSymbolRefAttr from = linear.getWeightAttr();
    if (norm.getBias())
      linear.setBiasAttr(derive.parameter(
          linear.getBiasAttr() ? linear.getBiasAttr() : from, "shifted",
          withShift(linear, norm.getBias(), derive)));
    if (norm.getWeight())
      linear.setWeightAttr(derive.parameter(
          from, "normed", byColumn(from, norm, channelsOf(linear.getInput()))));
  }
  if (fold.entry < 0)
    return cast<NormOp>(fold.at).setNormAttr(bare);
  auto unit = cast<ResidualOp>(fold.at);
  SmallVector<Attribute> norms(unit.getInNormAttr().getValue());
  norms[fold.entry] = bare;
  unit.setInNormAttr(ArrayAttr::get(unit.getContext(), norms));
}

// The norms at the beginning of layers, and the one that closes the stack, are
// fused into the sums that they read as long as they are alike. Folding only
// some of them would cost more launches than it saves multiplications.
void declineWhereNormsWouldDiffer(MutableArrayRef<Fold> folds) {
  auto isOfStack = [](const Fold &fold) {
    auto norm = dyn_cast<NormOp>(fold.at);
    return !norm || norm.getInput().getDefiningOp<ResidualOp>();
  };
  if (llvm::all_of(folds, [&](const Fold &fold) {
        return !isOfStack(fold) || (fold.law.empty() && !fold.cost);
      }))
    return;
  const int64_t norms = llvm::count_if(folds, isOfStack);
  for (Fold &fold : folds)
    if (isOfStack(fold) && !fold.cost)
      fold.cost = {"a norm of the stack keeps its weight, and unlike norms are "
                   "not carried to the sums they read",
                   "norms with a launch of their own", 0, norms};
}

struct FoldNormWeights
    : mille::rewrite::impl::FoldNormWeightsBase<FoldNormWeights> {
  using FoldNormWeightsBase::FoldNormWeightsBase;

  void runOnOperation() override {
    WeightReaders readers(getOperation());
    Derive derive(getOperation());
    for (auto function : getOperation().getBody().getOps<func::FuncOp>()) {
      RewriteLog log(function, "fold-norm-weights");
      SmallVector<Fold> folds = plansOf(function);
      SameFactors same;
      for (const Fold &fold : folds)
        if (fold.law.empty())
          for (LinearOp linear : fold.linears)
            same.add(linear.getWeightAttr(), fold.norm);
      for (Fold &fold : folds)
        for (LinearOp linear : fold.linears)
          if (!same.all(linear.getWeightAttr(), readers))
            fold.cost = costOfCopy(linear);
      declineWhereNormsWouldDiffer(folds);
      for (const Fold &fold : folds)
        run(fold, derive, log);
    }
  }

  void run(const Fold &fold, Derive &derive, RewriteLog &log) {
    if (!fold.law.empty())
      return log.declinedByLaw(fold.at, fold.law);
    if (byCost && fold.cost)
      return log.declinedByCost(fold.at, fold.cost);
    if (bitExact)
      return log.declinedBitExact(fold.at);
    log.applied(fold.at,
                "into " + std::to_string(fold.linears.size()) +
                    (fold.linears.size() == 1 ? " linear" : " linears"));
    apply(fold, derive);
  }
};

} // namespace

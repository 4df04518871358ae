// Divides the scales of skip and branches by a common constant and adapts the
// norm's eps. Must not touch a scale that is not a constant.
#include "compiler/rewrite/Derive.h"
#include "compiler/rewrite/RewriteLog.h"
#include "compiler/rewrite/Units.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace mille::rewrite {
#define GEN_PASS_DEF_EXCHANGESCALES
#include "compiler/rewrite/Passes.h.inc"
} // namespace mille::rewrite

using namespace mlir;
using namespace mille::rewrite;
using namespace mille::transformer;

namespace {

struct Exchange {
  ResidualOp unit;
  double skip = 1, by = 1; // by: the constant c
  SmallVector<double> branches;
  StringRef law; // the reason against it by the law
  Cost cost;
  bool idle = false; // there is no scale to exchange, and nothing to report
  bool fires() const { return law.empty() && !cost && !idle; }
  // How many scales are not 1 where all are divided by c.
  int64_t scalesAfter(double c) const {
    return (skip != c) +
           llvm::count_if(branches, [&](double branch) { return branch != c; });
  }
};

ScaleAttr branchScale(ResidualOp unit, size_t i) {
  return entryOf<ScaleAttr>(unit.getBranchScaleAttr(), i);
}

constexpr StringRef scales = "scales at run time";

double epsWithout(NormAttr norm, double c) {
  bool square = norm.getKind() != NormKind::l2_norm;
  return norm.getEps() / (square ? c * c : c);
}

class Chooser {
public:
  Chooser(ModelOp model, bool byCost) : readers(model), byCost(byCost) {}

  Exchange operator()(ResidualOp unit) const {
    Exchange plan;
    plan.unit = unit;
    plan.law = readScales(plan);
    if (!plan.law.empty())
      return plan;
    chooseConstant(plan);
    if (plan.law.empty() && !plan.cost)
      plan.law = whyNotBy(plan.by, unit.getOutNormAttr());
    return plan;
  }

private:
  StringRef readScales(Exchange &plan) const {
    ResidualOp unit = plan.unit;
    std::optional<double> skip = constantOf(unit.getSkipScaleAttr());
    if (!skip)
      return "the skip scale is no constant";
    plan.skip = *skip;
    for (size_t i = 0; i < unit.getBranches().size(); ++i) {
      std::optional<double> scale = constantOf(branchScale(unit, i));
      if (!scale)
        return "a branch scale is no constant";
      plan.branches.push_back(*scale);
    }
    return isNorm(unit.getOutNormAttr()) ? StringRef()
                                         : StringRef("no norm follows the sum");
  }

  bool branchesTakeFactors(ResidualOp unit) const {
    for (size_t i = 0; i < unit.getBranches().size(); ++i) {
      BranchEnd end = endOf(unit, i);
      if (!end.why.empty() ||
          (end.linear && readers.count(end.linear.getWeightAttr()) > 1))
        return false;
    }
    return true;
  }

  void chooseConstant(Exchange &plan) const {
    bool oneScale = llvm::all_equal(plan.branches);
    if (byCost && !branchesTakeFactors(plan.unit)) {
      plan.by = plan.branches.front();
      if (plan.scalesAfter(plan.by) >= plan.scalesAfter(1))
        plan.cost = {"a branch cannot take a factor", scales,
                     plan.scalesAfter(1), plan.scalesAfter(plan.by)};
    } else if (plan.skip != 1) {
      plan.by = plan.skip;
    } else if (byCost) {
      plan.cost = {"the branch takes its scale as it is", scales, 0, 1};
    } else if (oneScale) {
      plan.by = plan.branches.front();
    } else {
      plan.law = "the skip scale is 1 and the branches have several scales";
    }
  }

  static StringRef whyNotBy(double c, NormAttr norm) {
    if (!(c > 0))
      return "the scale is not above 0: the norm's sign would change";
    double eps = epsWithout(norm, c);
    if (norm.getEps() != 0 && !(eps >= std::numeric_limits<float>::min() &&
                                eps <= std::numeric_limits<float>::max()))
      return "eps would be no normal number of f32";
    return "";
  }

  WeightReaders readers;
  bool byCost;
};

void exchange(const Exchange &plan) {
  ResidualOp unit = plan.unit;
  MLIRContext *context = unit.getContext();
  NormAttr norm = unit.getOutNormAttr();
  unit.setOutNormAttr(NormAttr::get(
      context, norm.getKind(), F64(epsWithout(norm, plan.by)), norm.getAffine(),
      norm.getWeight(), norm.getBias(), norm.getGroup()));
  if (plan.skip == plan.by)
    unit.removeSkipScaleAttr();
  else
    unit.setSkipScaleAttr(constantScale(context, plan.skip / plan.by));
  SmallVector<Attribute> scales;
  for (double scale : plan.branches)
    scales.push_back(constantScale(context, scale / plan.by));
  if (llvm::all_of(plan.branches, [&](double s) { return s == plan.by; }))
    unit.removeBranchScaleAttr();
  else
    unit.setBranchScaleAttr(ArrayAttr::get(context, scales));
}

// Finds the plans that would give equal units of different layers different
// eps, so that the layers would no longer be equal.
void declineWhereLayersWouldDiffer(MutableArrayRef<Exchange> plans) {
  struct Epsilons {
    std::set<double> now, then;
  };
  std::map<std::string, Epsilons> places;
  auto placeOf = [](ResidualOp unit) {
    std::string words;
    if (Operation *before = unit->getPrevNode())
      if (auto last = dyn_cast<ResidualOp>(before))
        words = last.getLayer() == unit.getLayer() ? "later " : "";
    unit->walk([&](Operation *op) {
      words += op->getName().getStringRef().str() + " ";
    });
    return words;
  };
  for (Exchange &plan : plans) {
    NormAttr norm = plan.unit.getOutNormAttr();
    if (!norm)
      continue;
    Epsilons &place = places[placeOf(plan.unit)];
    place.now.insert(norm.getEps());
    place.then.insert(plan.fires() ? epsWithout(norm, plan.by)
                                   : double(norm.getEps()));
  }
  for (Exchange &plan : plans) {
    const Epsilons &place = places[placeOf(plan.unit)];
    if (plan.fires() && place.then.size() > place.now.size())
      plan.cost = {"eps would differ from layer to layer", "bodies of layers",
                   int64_t(place.now.size()), int64_t(place.then.size())};
  }
}

struct ExchangeScales
    : mille::rewrite::impl::ExchangeScalesBase<ExchangeScales> {
  using ExchangeScalesBase::ExchangeScalesBase;

  void runOnOperation() override {
    Chooser choose(getOperation(), byCost);
    for (auto function : getOperation().getBody().getOps<func::FuncOp>()) {
      RewriteLog log(function, "exchange-scales");
      SmallVector<Exchange> plans;
      function.walk([&](ResidualOp unit) {
        plans.push_back(choose(unit));
        plans.back().idle = !isConstantBesides1(unit.getSkipScaleAttr()) &&
                            !anyBranchScaled(unit);
      });
      if (byCost)
        declineWhereLayersWouldDiffer(plans);
      for (const Exchange &plan : plans)
        if (!plan.idle)
          run(plan, log);
    }
  }

  // With --by-cost, fold-branch-scales handles a branch scale without a skip
  // scale.
  bool anyBranchScaled(ResidualOp unit) const {
    if (byCost || !unit.getOutNormAttr())
      return false;
    for (size_t i = 0; i < unit.getBranches().size(); ++i)
      if (isConstantBesides1(branchScale(unit, i)))
        return true;
    return false;
  }

  void run(const Exchange &plan, RewriteLog &log) const {
    bool exact = isPowerOfTwo(plan.by);
    if (!plan.law.empty())
      return log.declinedByLaw(plan.unit, plan.law);
    if (plan.cost)
      return log.declinedByCost(plan.unit, plan.cost);
    if (bitExact && !exact)
      return log.declinedBitExact(plan.unit);
    NormAttr norm = ResidualOp(plan.unit).getOutNormAttr();
    log.applied(plan.unit,
                "c = " + formatDouble(plan.by) + ", eps " +
                    formatDouble(norm.getEps()) + " -> " +
                    formatDouble(epsWithout(norm, plan.by)),
                exact);
    exchange(plan);
  }
};

} // namespace

// Checks that a scheme fits the units of a model: on another placement its
// weights would lack the property that its name promises.
#include "compiler/import/schemes/Recipe.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;
using llvm::Twine;

static bool holds(const PerLayer<Norm> &slot, int64_t layer) {
  const Norm *norm = slot.at(layer);
  return norm && norm->present();
}

Placement mille::import::placementOf(const Unit &unit, int64_t layer) {
  const bool in = holds(unit.inNorm, layer), out = holds(unit.outNorm, layer),
             branch = holds(unit.branchNorm, layer);
  if (in && !branch && !out && unit.tap == Tap::normed)
    return Placement::post; // by norm rotation
  if (unit.tap == Tap::normed)
    return Placement::any;
  if (in && !branch && !out)
    return Placement::pre;
  if (out && !in && !branch)
    return Placement::post;
  return branch && !in && !out ? Placement::resPost : Placement::any;
}

namespace {

class Fit {
public:
  Fit(const SchemeEntry &entry, const ModelSpec &spec, Problems &problems)
      : entry(entry), spec(spec), problems(problems) {}

  void check() {
    if (spec.ntk != (entry.needs == Needs::ntkForm))
      problems
          .error(
              spec.at,
              said() +
                  (spec.ntk
                       ? "whose weights have no factor in the linears but "
                         "parametrisation is \"ntk\""
                       : "whose weights have deviation 1 but parametrisation "
                         "is \"standard\""))
          .help(spec.ntk ? "take scheme ntk, or parametrisation \"standard\""
                         : "add \"parametrisation\": \"ntk\"");
    for (const Stack &stack : spec.before)
      check(stack);
    check(spec);
  }

private:
  std::string said() const { return "scheme is " + entry.name.str() + ", "; }

  // Reports a unit once even if all layers have it.
  void check(const Stack &stack) {
    const DepthNames names(spec, stack);
    first = Placement::any;
    llvm::DenseSet<const Unit *> told;
    for (int64_t layer = 0; layer < stack.layers.value; ++layer)
      for (const Unit &unit : stack.unitsOf(layer)) {
        std::string why = misfit(unit, layer, names);
        if (!why.empty() && told.insert(&unit).second)
          problems.error(unit.at ? unit.at : spec.at,
                         said() + why + " (unit " + unit.name + ", layer " +
                             Twine(layer) + ")");
      }
  }

  // The reason why the scheme does not fit the unit; empty if it fits.
  std::string misfit(const Unit &unit, int64_t layer, const DepthNames &names) {
    switch (entry.needs) {
    case Needs::anything:
    case Needs::ntkForm:
      return "";
    case Needs::scaledPost:
      if (placementOf(unit, layer) != Placement::post)
        return "which is for post-norm units: out_norm alone, or in_norm with "
               "residual_tap \"normed\"";
      return wrongScale(unit.skipScale, layer, "skip_scale", skipFormula(names),
                        names);
    case Needs::oneSuPlacement:
      return suMisfit(unit, layer, names);
    case Needs::innerNorms:
      return innerNormMisfit(unit, layer);
    case Needs::shiftsAndScales:
      return fixupMisfit(unit, layer);
    case Needs::learnedScale:
      return learned(unit, layer, ScaleKind::learned_scalar)
                 ? ""
                 : "which starts a learned_scalar branch_scale but there is "
                   "none";
    case Needs::learnedChannels:
      return learned(unit, layer, ScaleKind::learned_channel)
                 ? ""
                 : "which starts a learned_channel branch_scale but there is "
                   "none";
    case Needs::branchNormWeight:
      return holds(unit.branchNorm, layer) &&
                     unit.branchNorm.at(layer)->affine != Affine::none
                 ? ""
                 : "which starts the weight of branch_norm but there is none";
    case Needs::unitLogits:
      return logitMisfit(unit, layer);
    }
    return "";
  }

  StringRef skipFormula(const DepthNames &names) const {
    return names.which == Stacks::encoder   ? entry.encoderSkip
           : names.which == Stacks::decoder ? entry.decoderSkip
                                            : entry.skip;
  }

  static bool learned(const Unit &unit, int64_t layer, ScaleKind kind) {
    const Scale *scale = unit.branchScale.at(layer);
    return scale && scale->kind == kind;
  }

  static std::string wrongScale(const PerLayer<Scale> &slot, int64_t layer,
                                StringRef slotName, StringRef formula,
                                const DepthNames &names) {
    const double wanted = names.value(formula);
    const Scale *scale = slot.at(layer);
    const std::string asks =
        ("which asks for " + slotName + " " + formatDouble(wanted) + " = " +
         formula + " but it is ")
            .str();
    if (scale && scale->kind != ScaleKind::constant)
      return asks + "not a constant";
    const double is = scale ? scale->value : 1;
    return std::fabs(is - wanted) <= 1e-6 * std::fabs(wanted)
               ? ""
               : asks + formatDouble(is);
  }

  // All units must have one placement, each with the scale that it requires.
  std::string suMisfit(const Unit &unit, int64_t layer,
                       const DepthNames &names) {
    const Placement placement = placementOf(unit, layer);
    if (placement == Placement::any)
      return "which knows pre-norm, post-norm and res-post-norm units only";
    if (first == Placement::any)
      first = placement;
    if (placement != first)
      return "whose gain is for one placement but units differ in theirs";
    std::string why =
        wrongScale(unit.skipScale, layer, "skip_scale",
                   placement == Placement::post ? entry.skip : "1", names);
    if (!why.empty())
      return why;
    if (placement == Placement::resPost &&
        learned(unit, layer, ScaleKind::learned_scalar))
      return "";
    return wrongScale(unit.branchScale, layer, "branch_scale",
                      placement == Placement::resPost ? entry.branchScale : "1",
                      names);
  }

  std::string innerNormMisfit(const Unit &unit, int64_t layer) {
    if (placementOf(unit, layer) != Placement::pre)
      return "which is for pre-norm units";
    for (const Branch &branch : unit.branches) {
      const Attention *attention = branch.attention.at(layer);
      const FeedForward *feedForward = branch.feedForward.at(layer);
      const bool inner =
          attention ? attention->cross || attention->innerNorm.norm.present()
                    : feedForward && feedForward->innerNorm.present();
      if (!inner)
        return "whose gain is for branches with inner_norm but branch " +
               branch.name + " has none";
    }
    return "";
  }

  std::string fixupMisfit(const Unit &unit, int64_t layer) {
    if (holds(unit.inNorm, layer) || holds(unit.outNorm, layer) ||
        holds(unit.branchNorm, layer))
      return "which is for units without norms";
    if (!learned(unit, layer, ScaleKind::learned_scalar))
      return "which needs a learned_scalar branch_scale but there is none";
    for (const Branch &branch : unit.branches) {
      const Attention *attention = branch.attention.at(layer);
      const FeedForward *feedForward = branch.feedForward.at(layer);
      if (!(attention ? attention->inputShift
                      : feedForward && feedForward->inputShift))
        return "which needs learned shifts but branch " + branch.name +
               " has no input_shift";
    }
    return "";
  }

  std::string logitMisfit(const Unit &unit, int64_t layer) {
    for (const Branch &branch : unit.branches)
      if (const Attention *attention = branch.attention.at(layer))
        if (attention->scale != 1 && !attention->learnedScale)
          return "which has 1/sqrt(head_dim) in q's weights but logit_scale of "
                 "branch " +
                 branch.name + " is " + formatDouble(attention->scale) +
                 ", not 1";
    return "";
  }

  const SchemeEntry &entry;
  const ModelSpec &spec;
  Problems &problems;
  Placement first = Placement::any;
};

} // namespace

void mille::import::checkScheme(Scheme scheme, const ModelSpec &spec,
                                Problems &problems) {
  Fit(entryOf(scheme), spec, problems).check();
}

// Describes the ops, norms and scales of a unit in words, and names its
// placement by the slots that are filled. Must not know a model's family.
#include "compiler/driver/commands/UnitFacts.h"
#include "dialects/transformer/Slots.h"

#include <cmath>

using namespace mille;
using namespace mille::transformer;
using llvm::StringRef;

namespace {

std::string withRoot(double value) {
  auto root = knownRoot(value);
  return formatDouble(value) + (root ? " = " + *root : "");
}

std::string scaleInWords(ScaleAttr scale, const Dimensions &model) {
  switch (scale.getKind()) {
  case ScaleKind::constant: {
    if (scale.getSymbol())
      return "constant of each layer";
    std::string text = formatDouble(scale.getValue());
    auto known = knownScale(scale.getValue(), model);
    StringRef formula = scale.getFormula() ? scale.getFormula().getValue() : "";
    if (!formula.empty() && !(known && StringRef(*known).starts_with(formula)))
      text += " = " + formula.str();
    if (known)
      text += " = " + *known;
    return text;
  }
  case ScaleKind::learned_scalar:
    return "learned, one number for each " +
           stringifyShare(scale.getShare()).str();
  case ScaleKind::learned_channel:
    return "learned, one number for each channel";
  case ScaleKind::scheduled:
    return "from " + formatDouble(scale.getFrom()) + " to " +
           formatDouble(scale.getTo()) + " over " +
           std::to_string(scale.getSteps()) + " steps";
  }
  return "";
}

bool isOne(ScaleAttr scale) { return constantOf(scale) == 1.0; }

int64_t channels(mlir::Value value) {
  return llvm::cast<mlir::ShapedType>(value.getType()).getShape().back();
}

// The unit as a formula of its slots: "x' = N(A x + F(x))".
std::string axesOf(ResidualOp unit) {
  size_t branches = unit.getBranches().size();
  bool in = holdsNorm(unit.getInNormAttr()),
       inner = holdsNorm(unit.getBranchNormAttr());
  bool shared = branches > 1 && in && unit.getInNormAttr().size() == 1;
  std::string skip = unit.getTap() == Tap::normed ? "N(x)" : "x", sum;
  if (!isOne(unit.getSkipScaleAttr()))
    skip = "A " + skip;
  mlir::ArrayAttr scales = unit.getBranchScaleAttr();
  for (size_t i = 0; i < branches; ++i) {
    std::string number = branches > 1 ? std::to_string(i + 1) : "";
    std::string input = in ? "N" + (shared ? "" : number) + "(x)" : "x";
    std::string value = "F" + number + "(" + input + ")";
    if (inner)
      value = "N'" + number + "(" + value + ")";
    if (scales && !isOne(llvm::cast<ScaleAttr>(scales[i])))
      value = "B" + number + " " + value;
    sum += " + " + value;
  }
  std::string y = skip + sum;
  if (unit.getOutNormAttr())
    y = "N(" + y + ")";
  if (!isOne(unit.getStreamScaleAttr()))
    y = "s " + (unit.getOutNormAttr() ? y : "(" + y + ")");
  return y;
}

// Adds a fact once. Another value of the same name is appended to the first.
void addFact(Facts &facts, StringRef what, const std::string &value) {
  for (Fact &fact : facts)
    if (fact.what == what) {
      if (!StringRef(fact.value).contains(value))
        fact.value += ", " + value;
      return;
    }
  facts.push_back({what.str(), value});
}

// Collects facts from the ops of one branch.
class BranchFacts {
public:
  Facts of(mlir::Region &branch) {
    branch.walk([&](mlir::Operation *op) { say(op); });
    if (facts.empty())
      add("branch", "linear");
    return std::move(facts);
  }

private:
  void add(StringRef what, const std::string &value) {
    addFact(facts, what, value);
  }

  void say(mlir::Operation *op) {
    if (auto attend = llvm::dyn_cast<AttendOp>(op))
      return sayAttention(attend);
    if (auto attend = llvm::dyn_cast<LinearAttendOp>(op))
      return add("attention", "linear with decay, " + heads(attend));
    if (auto rotate = llvm::dyn_cast<RotateOp>(op))
      return sayRotation(rotate);
    if (auto norm = llvm::dyn_cast<NormOp>(op))
      return add("inner norm", normInWords(norm.getNorm()));
    if (auto clamp = llvm::dyn_cast<ClampOp>(op))
      return add("clamped",
                 formatDouble(clamp.getLow().convertToDouble()) + " .. " +
                     formatDouble(clamp.getHigh().convertToDouble()));
    if (auto route = llvm::dyn_cast<RouteOp>(op))
      return sayRouter(route);
    if (auto activate = llvm::dyn_cast<ActivateOp>(op))
      return add("feed-forward",
                 std::to_string(channels(activate.getInput())) + ", " +
                     stringifyActivation(activate.getFunction()).str());
    if (auto gate = llvm::dyn_cast<GateOp>(op))
      return add("feed-forward",
                 "gated, " + std::to_string(channels(gate.getUp())) + ", " +
                     stringifyActivation(gate.getFunction()).str());
  }

  template <typename Op> static std::string heads(Op attend) {
    std::string text = std::to_string(attend.getHeads()) + " heads of " +
                       std::to_string(attend.getHeadDim());
    if (attend.getKvHeads() != attend.getHeads())
      text +=
          ", " + std::to_string(attend.getKvHeads()) + " for keys and values";
    if (attend.getValueDim() != attend.getHeadDim())
      text += ", values of " + std::to_string(attend.getValueDim());
    return text;
  }

  void sayAttention(AttendOp attend) {
    add("attention", heads(attend) + otherStream(attend));
    std::string scale = withRoot(attend.getScale().convertToDouble());
    if (attend.getLayerScaleAttr())
      scale += " times a number of each layer";
    if (attend.getHeadScaleAttr())
      scale += " times a learned one of each head";
    if (auto length = attend.getLengthScale())
      scale += " times " + stringifyLengthKind(length->getKind()).str();
    if (double cap = attend.getSoftcap().convertToDouble(); cap != 0)
      scale += ", softcap " + formatDouble(cap);
    add("logit scale", scale);
    const bool causal = attend.getMask() == Mask::causal;
    std::string mask = causal ? "causal" : "none";
    if (auto window = attend.getWindow()) {
      mask += ", window " + side((*window)[0]) + " back";
      if (!causal)
        mask += " and " + side((*window)[1]) + " ahead";
    }
    if (int64_t chunk = attend.getChunk())
      mask += ", chunks of " + std::to_string(chunk);
    if (mlir::Value segments = attend.getSegments())
      if (auto counted = segments.getDefiningOp<CountTokensOp>())
        mask += ", chunks of " + std::to_string(counted.getEach());
    if (int64_t sequences = attend.getSequences(); sequences > 1)
      mask += ", " + std::to_string(sequences) + " windows an image";
    if (int64_t each = attend.getSequenceTokens())
      mask += ", windows of " + std::to_string(each) + " tokens";
    if (attend.getSinkAttr())
      mask += ", a sink for each head";
    add("mask", mask);
    for (mlir::Value bias : attend.getBiases())
      if (mlir::Operation *source = bias.getDefiningOp())
        add("positions", biasInWords(source));
  }

  // Names the stream that the keys come from if it is not the unit's: a
  // convolution moves what its layer reads, cross attention reads an encoder.
  static std::string otherStream(AttendOp attend) {
    auto unit = attend->getParentOfType<ResidualOp>();
    auto sourceOf = [&](mlir::Value value) {
      mlir::Operation *op = value.getDefiningOp();
      for (; op && unit && unit->isProperAncestor(op) && op->getNumOperands();
           op = value.getDefiningOp())
        value = op->getOperand(0);
      return value;
    };
    const mlir::Value key = sourceOf(attend.getKey());
    auto argument = llvm::dyn_cast<mlir::BlockArgument>(key);
    if (unit && argument && argument.getOwner()->getParentOp() == unit)
      return "";
    return sourceOf(attend.getQuery()) == key ? ", of the layer's input"
                                              : ", keys of the encoder";
  }

  static std::string side(int64_t tokens) {
    return tokens == 0 ? "all" : std::to_string(tokens - 1);
  }

  static std::string biasInWords(mlir::Operation *bias) {
    if (llvm::isa<PositionBiasOp>(bias))
      return "ALiBi";
    if (llvm::isa<DistanceBiasOp>(bias))
      return "bias by distance in buckets";
    if (llvm::isa<KeyHeadBiasOp>(bias))
      return "bias by key and head";
    if (llvm::isa<PairBiasOp>(bias))
      return "bias by pair of tokens";
    return "bias by content and distance";
  }

  void sayRotation(RotateOp rotate) {
    std::string pairing = stringifyPairing(rotate.getPairing()).str();
    if (rotate.getTableAttr())
      return add("positions", "RoPE by table, " + pairing);
    if (!rotate.getFrequencies())
      return add("positions", "RoPE by a patch's row and column, " + pairing);
    auto frequencies = *rotate.getFrequencies();
    std::string text =
        "RoPE on " + std::to_string(2 * frequencies.size()) + " of " +
        std::to_string(rotate.getHeadDim()) + " dimensions, " + pairing +
        ", slowest 1/" +
        std::to_string(std::llround(1 / std::fabs(frequencies.back())));
    if (double factor = rotate.getAttentionFactor().convertToDouble();
        factor != 1)
      text += ", times " + formatDouble(factor);
    if (auto longer = rotate.getLongContext())
      text +=
          ", other frequencies beyond " + std::to_string(longer->getAfter());
    add("positions", text);
  }

  void sayRouter(RouteOp route) {
    std::string text = std::to_string(int64_t(route.getK())) + " of " +
                       std::to_string(channels(route.getLogits())) + " by " +
                       stringifyRouterScore(route.getScore()).str();
    if (route.getSelectionBiasAttr())
      text += " with a selection bias";
    if (int64_t groups = route.getGroups(); groups > 1)
      text += ", from " + std::to_string(int64_t(route.getTopGroups())) +
              " of " + std::to_string(groups) + " groups";
    if (route.getRenormalised() || route.getSoftmaxChosen())
      text += ", renormalised";
    if (double factor = route.getFactor().convertToDouble(); factor != 1)
      text += ", times " + formatDouble(factor);
    add("experts", text);
  }

  Facts facts;
};

void addNorms(Facts &facts, StringRef what, mlir::ArrayAttr list) {
  if (list)
    for (NormAttr norm : list.getAsRange<NormAttr>())
      addFact(facts, what, normInWords(norm));
}

} // namespace

std::string mille::normInWords(NormAttr norm) {
  std::string text = stringifyNormKind(norm.getKind()).str();
  if (norm.getKind() == NormKind::identity)
    return text;
  text += " eps " + formatDouble(norm.getEps());
  if (norm.getAffine() == Affine::none)
    text += " without weight";
  else if (norm.getAffine() == Affine::one_plus_weight)
    text += " times 1 + weight";
  if (norm.getBias())
    text += " with bias";
  if (norm.getGroup())
    text += ", each " + std::to_string(norm.getGroup()) + " channels";
  return text;
}

std::string mille::placementOf(ResidualOp unit) {
  bool in = holdsNorm(unit.getInNormAttr());
  bool branch = holdsNorm(unit.getBranchNormAttr());
  bool out = unit.getOutNormAttr() != nullptr;
  if (unit.getTap() == Tap::normed)
    return "pre-norm, normed skip";
  if (in && branch)
    return out ? "sandwich with an output norm" : "sandwich";
  if (in)
    return out ? "pre-norm with an output norm" : "pre-norm";
  if (branch)
    return out ? "res-post-norm with an output norm" : "res-post-norm";
  if (!out)
    return "no norm";
  ScaleAttr skip = unit.getSkipScaleAttr();
  return skip && skip.getKind() == ScaleKind::constant && !isOne(skip)
             ? "post-norm with a scaled skip (DeepNorm)"
             : "post-norm";
}

// The norm of branch `i` in a list that has one for all or one for each.
static std::string normAt(mlir::ArrayAttr list, size_t i) {
  if (!list || list.empty())
    return "";
  auto norm = llvm::cast<NormAttr>(list[list.size() == 1 ? 0 : i]);
  return norm.getKind() == NormKind::identity ? "" : normInWords(norm);
}

UnitSlots mille::slotsOf(ResidualOp unit, const Dimensions &model) {
  auto scale = [&](ScaleAttr given) {
    return !given || isOne(given) ? std::string() : scaleInWords(given, model);
  };
  UnitSlots slots;
  slots.placement = placementOf(unit);
  slots.formula = "x' = " + axesOf(unit);
  mlir::ArrayAttr inNorms = unit.getInNormAttr(),
                  norms = unit.getBranchNormAttr(),
                  scales = unit.getBranchScaleAttr();
  slots.normedTap = unit.getTap() == Tap::normed;
  slots.sharedInputNorm = unit.getBranches().size() > 1 && holdsNorm(inNorms) &&
                          inNorms.size() == 1;
  slots.skipScale = scale(unit.getSkipScaleAttr());
  slots.streamScale = scale(unit.getStreamScaleAttr());
  if (unit.getOutNormAttr())
    slots.outputNorm = normInWords(unit.getOutNormAttr());
  for (auto [i, branch] : llvm::enumerate(unit.getBranches()))
    slots.branches.push_back(
        {BranchFacts().of(branch), normAt(inNorms, i), normAt(norms, i),
         scales ? scale(llvm::cast<ScaleAttr>(scales[i])) : ""});
  return slots;
}

Facts mille::factsOf(ResidualOp unit, const Dimensions &model) {
  Facts facts{{"placement", placementOf(unit) + ": x' = " + axesOf(unit)}};
  for (auto [i, branch] : llvm::enumerate(unit.getBranches()))
    for (Fact &fact : BranchFacts().of(branch)) {
      if (unit.getBranches().size() > 1)
        fact.what = std::to_string(i + 1) + ": " + fact.what;
      facts.push_back(std::move(fact));
    }
  addNorms(facts, "input norm", unit.getInNormAttr());
  addNorms(facts, "branch norm", unit.getBranchNormAttr());
  if (unit.getOutNormAttr())
    facts.push_back({"output norm", normInWords(unit.getOutNormAttr())});
  if (!isOne(unit.getSkipScaleAttr()))
    facts.push_back(
        {"skip scale", scaleInWords(unit.getSkipScaleAttr(), model)});
  if (auto scales = unit.getBranchScaleAttr())
    for (ScaleAttr scale : scales.getAsRange<ScaleAttr>())
      if (!isOne(scale))
        addFact(facts, "branch scale", scaleInWords(scale, model));
  if (!isOne(unit.getStreamScaleAttr()))
    facts.push_back(
        {"stream scale", scaleInWords(unit.getStreamScaleAttr(), model)});
  return facts;
}

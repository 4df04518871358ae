// Applies the table of schemes: finds the rule for a weight, evaluates its
// formula, and joins several weights of one stored tensor.
#include "compiler/import/schemes/Recipe.h"
#include "dialects/transformer/Formula.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;

//===-- Names of formulas -------------------------------------------------===//

static int64_t unitsOf(const Stack &stack) {
  int64_t units = 0;
  for (int64_t layer = 0; layer < stack.layers.value; ++layer)
    units += stack.unitsOf(layer).size();
  return units;
}

DepthNames::DepthNames(const ModelSpec &spec, const Stack &stack) {
  const bool both = spec.decoder && spec.before.size() == 1;
  which = !both             ? Stacks::alone
          : &stack == &spec ? Stacks::decoder
                            : Stacks::encoder;
  names = {{"layers", double(stack.layers.value)},
           {"units", double(unitsOf(stack))},
           {"hidden_size", double(stack.hidden.value)}};
  if (both) {
    names.push_back({"encoder_layers", double(spec.before[0].layers.value)});
    names.push_back({"decoder_layers", double(spec.layers.value)});
  }
}

double
DepthNames::value(StringRef formula,
                  llvm::ArrayRef<std::pair<StringRef, double>> more) const {
  std::string why;
  auto number = [&](StringRef name) -> std::optional<double> {
    for (auto list : {llvm::ArrayRef(names), more})
      for (auto &[known, value] : list)
        if (known == name)
          return value;
    return std::nullopt;
  };
  return evaluateFormula(formula, number, why).value_or(std::nan(""));
}

//===-- Rules -------------------------------------------------------------===//

// The slot that a norm's weight or a scale fills: the last word of its name but
// one, or the last.
static bool namesSlot(StringRef name, StringRef slot) {
  return name.ends_with(slot) || name.contains((slot + ".").str());
}

static Parts partOf(Role role, StringRef name) {
  switch (role) {
  case Role::embed:
    return Parts(Part::words);
  case Role::position:
    return Parts(Part::positions);
  case Role::tokenType:
    return Parts(Part::tokenTypes);
  case Role::query:
    return Parts(Part::query);
  case Role::key:
    return Parts(Part::key);
  case Role::value:
    return Parts(Part::value);
  case Role::output:
    return Parts(Part::output);
  case Role::ffnIn:
    return Parts(Part::ffnIn);
  case Role::gate:
    return Parts(Part::gate);
  case Role::ffnOut:
    return Parts(Part::ffnOut);
  case Role::router:
    return Parts(Part::router);
  case Role::dense:
    return Parts(Part::dense);
  case Role::head:
    return Parts(Part::head);
  case Role::normWeight:
  case Role::normOffsetWeight:
    return Parts(namesSlot(name, ".branch_norm") ? Part::branchNormWeight
                                                 : Part::normWeight);
  case Role::scale:
    return namesSlot(name, "branch_scale") ? Parts(Part::branchScale) : 0;
  case Role::bias:
    return 0;
  }
  return 0;
}

const Rule *Recipe::ruleFor(const Wanted &wanted, Parts part, bool bias) const {
  const Stack &stack = wanted.stack ? *wanted.stack : spec;
  const DepthNames names(spec, stack);
  const Placement placement =
      stack.units.empty() ? Placement::any : placementOf(stack.units[0], 0);
  for (auto rules : {entry.rules, usualRules()})
    for (const Rule &rule : rules) {
      const bool cross = wanted.attention && wanted.attention->cross;
      if ((rule.parts & part) && (!bias || rule.alsoBiases) &&
          (rule.stacks == Stacks::any || rule.stacks == names.which) &&
          (rule.placement == Placement::any || rule.placement == placement) &&
          (!rule.upToLayers || stack.layers.value <= rule.upToLayers) &&
          !(rule.notCross && cross))
        return &rule;
    }
  return nullptr;
}

// The variance of a normal cut at 2 deviations: 1 - 4 phi(2) / (2 Phi(2) - 1).
static double varianceOfCut() {
  constexpr double rootOfTwoPi = 2.506628274631000502415765;
  return 1 - 4 * std::exp(-2.0) / rootOfTwoPi / std::erf(std::sqrt(2.0));
}

// The number of inputs of a weight [out, in], of experts' [experts, out, in] or
// of a convolution's [out, in, places].
static int64_t inputsOf(const Wanted &wanted) {
  int64_t inputs = wanted.shape.back().size;
  const bool convolution =
      wanted.role == Role::dense && wanted.shape.size() > 2;
  if (convolution)
    for (size_t i = 1; i + 1 < wanted.shape.size(); ++i)
      inputs *= wanted.shape[i].size;
  return inputs;
}

Recipe::Filling Recipe::fill(const Rule &rule, const Wanted &wanted,
                             int64_t fanOut) const {
  const Stack &stack = wanted.stack ? *wanted.stack : spec;
  const double fanIn =
      wanted.role == Role::bias ? wanted.fanIn : inputsOf(wanted);
  const Attention *attention = wanted.attention;
  const double number =
      DepthNames(spec, stack)
          .value(rule.formula,
                 {{"fan_in", fanIn},
                  {"fan_out", double(fanOut)},
                  {"head_dim", attention ? attention->headDim.value : 1.0}});
  switch (rule.draw) {
  case Draw::fixed:
    return {Distribution::fixed, number};
  case Draw::normal:
    return {Distribution::normal, 0, number};
  case Draw::uniform:
    return {Distribution::uniform, 0, number};
  case Draw::truncated:
    return {Distribution::truncated_normal, 0, number, 2};
  case Draw::compensated:
    return {Distribution::truncated_normal, 0,
            number / std::sqrt(varianceOfCut()), 2};
  }
  return {};
}

Recipe::Filling Recipe::filling(const Wanted &wanted, Role role,
                                int64_t fanOut) const {
  const bool bias = wanted.role == Role::bias;
  const Parts part =
      partOf(bias && role == Role::bias ? wanted.biasOf : role, wanted.name);
  const Rule *rule = ruleFor(wanted, part, bias);
  if (bias && !wanted.fanIn) // the bias of a norm
    rule = nullptr;
  if (wanted.role == Role::scale && !rule)
    return {Distribution::fixed, wanted.init};
  if (!rule)
    return {};
  Filling filling = fill(*rule, wanted, fanOut);
  if (wanted.role == Role::normOffsetWeight) // the norm adds 1 to it
    filling.mean -= 1;
  return filling;
}

//===-- Values ------------------------------------------------------------===//

mlir::Attribute Recipe::drawn(const Filling &filling, StringRef stream,
                              llvm::ArrayRef<int64_t> shape) const {
  return DrawnAttr::get(
      &context, filling.distribution, filling.mean, filling.deviation,
      filling.cut, seed, stream,
      mlir::RankedTensorType::get(shape, mlir::Float32Type::get(&context)));
}

// Draws the parts one by one, then moves their rows to their places in the
// tensor.
mlir::Attribute Recipe::joined(const Wanted &wanted,
                               llvm::ArrayRef<Filling> fillings) const {
  auto list = [&](llvm::ArrayRef<int64_t> numbers) {
    return mlir::DenseI64ArrayAttr::get(&context, numbers);
  };
  const int64_t in = wanted.role == Role::bias ? 1 : wanted.shape.back().size;
  const auto groupsInside = list({1, 0, 2});
  llvm::SmallVector<mlir::Attribute> parts;
  for (auto [part, filling] : llvm::zip_equal(wanted.parts, fillings)) {
    const int64_t each = part.rows / wanted.groups;
    mlir::Attribute value =
        drawn(filling, part.name, {wanted.groups, each, in});
    parts.push_back(PermuteAttr::get(&context, value, groupsInside));
  }
  mlir::Attribute whole = PermuteAttr::get(
      &context, ConcatAttr::get(&context, parts), groupsInside);
  llvm::SmallVector<int64_t> shape;
  for (const Dimension &dimension : wanted.shape)
    shape.push_back(dimension.size);
  return ReshapeAttr::get(&context, whole, list(shape));
}

mlir::Attribute Recipe::value(const Wanted &wanted) {
  llvm::SmallVector<int64_t> shape;
  for (const Dimension &dimension : wanted.shape)
    shape.push_back(dimension.size);
  llvm::SmallVector<Filling> fillings;
  const bool experts = shape.size() == 3 && wanted.role != Role::dense;
  for (const WantedPart &part : wanted.parts)
    fillings.push_back(
        filling(wanted, part.role, part.rows / (experts ? shape[0] : 1)));
  if (wanted.parts.empty()) {
    const bool convolution = shape.size() > 2 && !experts;
    const int64_t rows =
        shape.size() < 2 || convolution ? shape[0] : shape[shape.size() - 2];
    fillings.push_back(filling(wanted, wanted.role, rows));
  }
  mlir::Attribute value = llvm::all_equal(fillings)
                              ? drawn(fillings[0], wanted.name, shape)
                              : joined(wanted, fillings);
  made.push_back({wanted.name, shape, value});
  return value;
}

mlir::Attribute NoWeights::value(const Wanted &wanted) {
  llvm::SmallVector<int64_t> shape;
  for (const Dimension &dimension : wanted.shape)
    shape.push_back(dimension.size);
  return DrawnAttr::get(
      &context, Distribution::fixed, 0.0, 0.0, 0.0, 0, wanted.name,
      mlir::RankedTensorType::get(shape, mlir::Float32Type::get(&context)));
}

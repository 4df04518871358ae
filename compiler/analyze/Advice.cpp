// Puts the parts together and says what follows, in the field's words. Each
// rule looks at numbers and slots; none at a family.
#include "compiler/analyze/Analysis.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mille;
using namespace mille::analyze;

std::string mille::analyze::shortNumber(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.4g", number);
  return text;
}

std::string mille::analyze::growthInWords(double power) {
  if (std::isnan(power))
    return "too few layers for a power";
  return power < 0.2
             ? "does not grow with depth"
             : "grows as layers^" + shortNumber(std::round(power * 100) / 100);
}

std::string mille::analyze::placementInWords(const Unit &unit) {
  const Branch &branch = unit.branches.front();
  const bool in = branch.inNorm.present, out = unit.outNorm.present;
  std::string words = unit.normedTap ? "pre-norm, normed skip"
                      : branch.branchNorm.present
                          ? in ? "sandwich" : "res-post-norm"
                      : in && out ? "pre-norm with an output norm"
                      : in        ? "pre-norm"
                      : out       ? "post-norm"
                                  : "no norm";
  if (unit.learnedSkip)
    words += ", learned skip scale";
  else if (unit.skip != 1)
    words += ", skip scale " + shortNumber(unit.skip);
  if (unit.learnedBranch)
    words += ", learned branch scale";
  else if (branch.scale != 1)
    words += ", branch scale " + shortNumber(branch.scale);
  return words;
}

//===-- Other stacks of the same form -------------------------------------===//

// Weights with which every linear's value has the second moment `moment`.
static void keepMoments(Branch &branch, double input, double moment) {
  Branch done = branch;
  done.maps.clear();
  for (Map &map : branch.maps) {
    if (map.kind == MapKind::linear) {
      const double before = forwardMoments(done, input)[map.first];
      map.bias = {};
      map.weight = {};
      if (before > 0 && map.factor != 0)
        map.weight.second =
            moment / (map.fanIn * map.factor * map.factor * before);
    }
    if (map.kind == MapKind::norm)
      map.norm.weight = {1, 1, 1}, map.norm.bias = {};
    done.maps.push_back(map);
  }
}

static void plain(Unit &unit) {
  unit.skip = unit.stream = 1;
  unit.outNorm.weight = {1, 1, 1};
  unit.outNorm.bias = {};
  for (Branch &branch : unit.branches) {
    branch.scale = 1;
    for (Norm *norm : {&branch.inNorm, &branch.branchNorm})
      norm->weight = {1, 1, 1}, norm->bias = {};
    keepMoments(branch, 1, 1);
  }
}

Stack mille::analyze::oneLayerWithoutScales(const Stack &stack) {
  Stack one = stack;
  const int64_t layer = stack.units.front().layer;
  llvm::erase_if(one.units,
                 [&](const Unit &unit) { return unit.layer != layer; });
  llvm::for_each(one.units, plain);
  return one;
}

Stack mille::analyze::asDeepNorm(const Stack &stack) {
  Stack deep = stack;
  const double units = double(stack.units.size()); // 2N
  for (Unit &unit : deep.units) {
    plain(unit);
    unit.skip = std::pow(units, 0.25);
    unit.normedTap = false;
    unit.outNorm.present = true;
    for (Branch &branch : unit.branches) {
      branch.inNorm.present = branch.branchNorm.present = false;
      for (Map &map : branch.maps)
        map.weight.second *= std::pow(4 * units, -0.5); // gain (8N)^(-1/4)
    }
  }
  return deep;
}

//===-- Rules -------------------------------------------------------------===//

namespace {

class Adviser {
public:
  Adviser(StackAnalysis &analysis, const AnalysisOptions &options)
      : a(analysis), options(options), units(analysis.stack.units) {}

  void advise() {
    scales();
    gainUnderBranchNorm();
    logits();
    ranges();
    growth();
  }

private:
  void say(const std::string &text) { a.advice.push_back(text); }
  bool all(llvm::function_ref<bool(const Unit &)> is) const {
    return llvm::all_of(units, is);
  }
  std::string depth() const {
    return std::to_string(units.back().layer + 1) + " layers";
  }
  std::string deepnorm() const {
    const double n = double(units.size());
    return "skip_scale (2N)^(1/4) = " + shortNumber(std::pow(n, 0.25)) +
           " and gain (8N)^(-1/4) = " + shortNumber(std::pow(4 * n, -0.25)) +
           ", N = " + shortNumber(n / 2);
  }

  // Reports how a stack whose sums are normed changes its first updates.
  void scales() {
    const bool closed = all([](const Unit &unit) {
      return (unit.outNorm.present && !unit.branches[0].inNorm.present) ||
             unit.normedTap;
    });
    if (!closed || a.overDeepNorm < 3 || options.trained)
      return;
    const bool scaled =
        llvm::any_of(units, [](const Unit &u) { return u.skip > 1.001; });
    const std::string times =
        "first update " + shortNumber(std::round(a.overDeepNorm * 10) / 10) +
        " times a DeepNorm stack's";
    if (!scaled)
      say("post-norm without skip scale at " + depth() + ": " + times +
          "; set " + deepnorm());
    else
      say("skip scale " + shortNumber(units[0].skip) +
          " without DeepNorm's gain at " + depth() + ": " + times +
          "; half of DeepNorm does not bound the update: " + deepnorm());
  }

  // A norm after the branch undoes a gain, and multiplies the gradients by it.
  void gainUnderBranchNorm() {
    for (size_t i = 0; i < units.size(); ++i)
      for (const Branch &branch : units[i].branches) {
        if (!branch.branchNorm.present || a.stack.unitBranches ||
            options.trained)
          continue;
        const double value =
            forwardMoments(branch,
                           normed(branch.inNorm, a.predicted.units[i].in))
                .back();
        if (value > 0.05 || value <= 0)
          continue;
        const double d = double(units.size());
        say("branch_norm undoes what makes branch " + branch.name +
            " small (second moment " + shortNumber(value) +
            "): its gradients grow by " + shortNumber(1 / std::sqrt(value)) +
            "; keep gain 1 and set branch_scale to D^(-1/2) = " +
            shortNumber(std::pow(d, -0.5)) + " for SGD, D^(-1) = " +
            shortNumber(1 / d) + " for Adam and LAMB, D = " + shortNumber(d));
        return;
      }
  }

  void logits() {
    for (size_t i = 0; i < units.size(); ++i)
      for (const LogitMoments &m : a.logits[i])
        if (m.saturation >= 1) {
          say("logits of unit " + units[i].name + " in layer " +
              std::to_string(units[i].layer) + " have second moment " +
              shortNumber(m.second) + ": a softmax over " +
              shortNumber(options.keys) +
              " keys takes one; divide by "
              "sqrt(head_dim), or norm queries and keys");
          return;
        }
  }

  void ranges() {
    for (size_t i = 0; i < units.size(); ++i) {
      const Range &range = a.ranges[i];
      const bool measured = range.measuredLargest > 0;
      const double largest = measured ? range.measuredLargest : range.predicted;
      if (largest > 65504) {
        say("the residual sum of unit " + units[i].name + " in layer " +
            std::to_string(units[i].layer) + " reaches " +
            shortNumber(largest) + (measured ? " in the sample" : "") +
            ", beyond f16's 65504: bf16 or f32");
        break;
      }
    }
    size_t lost = 0;
    for (const UnitMoments &m : a.predicted.units)
      lost += m.sum > 0 && m.branch > 0 && std::sqrt(m.branch / m.sum) < 0x1p-9;
    if (lost)
      say("the branches of " + std::to_string(lost) +
          (lost == 1 ? " unit are" : " units are") +
          " below half a last place of bf16 at their sum: keep the stream in "
          "f32");
  }

  void growth() {
    const UnitMoments &last = a.predicted.units.back();
    const bool open = all([](const Unit &unit) {
      return !unit.outNorm.present && !unit.normedTap;
    });
    const bool pre = open && all([](const Unit &unit) {
                       return unit.branches[0].inNorm.present;
                     });
    if (open && !a.stack.finalNorm && pre)
      say("pre-norm without a final norm: what leaves has second moment " +
          shortNumber(last.out) + "; add final_norm");
    const bool bare = open && all([](const Unit &unit) {
                        return !unit.branches[0].inNorm.present &&
                               !unit.branches[0].branchNorm.present;
                      });
    if (bare && last.out > 1e4 * a.stack.entry)
      say("sums without a norm multiply the second moment by " +
          shortNumber(last.out / a.stack.entry) + " over " + depth() +
          "; start branch_scale at 0 (ReZero, SkipInit) or the last linear "
          "(Fixup)");
    const double d = double(units.size());
    if (pre && units.size() >= 16 && a.predicted.effectiveDepth < d / 8 &&
        a.predicted.effectiveDepth > 0)
      say("effective depth " + shortNumber(a.predicted.effectiveDepth) +
          " of " + shortNumber(d) +
          " units: unit t changes the stream by about 1/t, more "
          "like width than depth");
  }

  StackAnalysis &a;
  const AnalysisOptions &options;
  const std::vector<Unit> &units;
};

} // namespace

void mille::analyze::advise(StackAnalysis &analysis,
                            const AnalysisOptions &options) {
  Adviser(analysis, options).advise();
}

StackAnalysis mille::analyze::analyze(const Stack &stack,
                                      const AnalysisOptions &options) {
  StackAnalysis a;
  a.stack = stack;
  a.predicted = predict(stack);
  const Stack narrow = narrowed(stack, options.simulation.width);
  a.narrow = predict(narrow);
  a.simulated = simulate(stack, options.simulation);
  const Moments one = predict(oneLayerWithoutScales(narrow));
  const double layers = double(stack.units.back().layer + 1);
  for (size_t o = 0; o < a.depthFactor.size(); ++o) {
    a.depthFactor[o] =
        one.update[o] > 0 ? a.narrow.update[o] / one.update[o] : 0;
    a.depthPower[o] = layers >= 4 && a.depthFactor[o] > 0
                          ? std::log(a.depthFactor[o]) / std::log(layers)
                          : std::nan("");
  }
  const Moments deep = simulate(asDeepNorm(stack), options.simulation);
  a.overDeepNorm =
      deep.update[sgd] > 0 ? a.simulated.update[sgd] / deep.update[sgd] : 0;
  std::vector<double> bounds;
  if (options.bounds)
    bounds = lengthBounds(stack);
  for (size_t i = 0; i < stack.units.size(); ++i) {
    const UnitMoments &m = a.predicted.units[i];
    a.logits.push_back(logitsOf(stack.units[i], m.in, options.keys));
    Range range;
    range.predicted = std::sqrt(
        m.sum * 2 * std::log(std::max(2.0, stack.channels * options.keys)));
    range.bound = options.bounds ? bounds[i] : 0;
    a.ranges.push_back(range);
  }
  return a;
}

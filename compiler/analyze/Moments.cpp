// Computes moments by recurrences: forward y = A^2 r + sum B^2 b, backward with
// the same factors in the opposite order. Must not draw numbers.
#include "compiler/analyze/Moments.h"
#include "dialects/transformer/Activation.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mille;
using namespace mille::analyze;
using transformer::Activation;

static constexpr double rootOfTwoOverPi = 0.797884560802865355879892;

//===-- Activations -------------------------------------------------------===//

// Integrates over N(0, moment) by Simpson's rule, separately on each side of 0,
// where functions may have a kink.
ActivationMoments
mille::analyze::momentsOf(llvm::function_ref<double(double)> f, double moment) {
  ActivationMoments all;
  const double deviation = std::sqrt(moment);
  constexpr int steps = 4000;
  constexpr double reach = 12, step = reach / steps,
                   rootOfTwoPi = 2.50662827463100050242;
  double absolute = 0, absoluteSlope = 0;
  for (double side : {-1.0, 1.0})
    for (int i = 0; i <= steps; ++i) {
      const double z = side * (i * step);
      const int share = i == 0 || i == steps ? 1 : i % 2 ? 4 : 2;
      const double weight =
          std::exp(-z * z / 2) / rootOfTwoPi * step * share / 3;
      // The slope at 0 differs between the two sides.
      const double x = deviation * z, value = f(x);
      const double h = 1e-5 * std::max(1.0, std::fabs(x));
      const double slope = (f(x + side * h) - value) / (side * h);
      all.mean += weight * value;
      all.second += weight * value * value;
      all.slope += weight * slope * slope;
      absolute += weight * std::fabs(value);
      absoluteSlope += weight * std::fabs(slope);
    }
  all.absolute = all.second > 0 ? absolute / std::sqrt(all.second) : 0;
  all.absoluteSlope = all.slope > 0 ? absoluteSlope / std::sqrt(all.slope) : 0;
  return all;
}

ActivationMoments mille::analyze::momentsOf(Activation function,
                                            double moment) {
  if (function == Activation::identity)
    return {moment, 1, rootOfTwoOverPi, 1, 0};
  return momentsOf(
      [&](double x) { return transformer::activation(function, x); }, moment);
}

static ActivationMoments clampMoments(const Map &map, double moment) {
  return momentsOf(
      [&](double x) { return std::min(std::max(x, map.low), map.high); },
      moment);
}

//===-- One branch --------------------------------------------------------===//

double mille::analyze::normed(const Norm &norm, double moment) {
  if (!norm.present)
    return moment;
  return moment / (moment + norm.eps) * norm.weight.second + norm.bias.second;
}

// The factor of the gradient through a norm whose input has this moment.
static double normSlope(const Norm &norm, double moment) {
  return norm.present ? norm.weight.second / (moment + norm.eps) : 1;
}

namespace {

// The second moments of a branch's values, and their ratio of mean magnitude to
// root mean square, which the bounds for Adam and LAMB need.
struct Passed {
  std::vector<double> value, ratio;
  std::vector<ActivationMoments> activation;
};

Passed passForward(const Branch &branch, double input) {
  Passed passed;
  for (const Map &map : branch.maps) {
    auto at = [&](int i) { return passed.value[i]; };
    double moment = 0, ratio = rootOfTwoOverPi;
    ActivationMoments activation;
    switch (map.kind) {
    case MapKind::input:
      moment = input;
      break;
    case MapKind::linear:
      moment = map.factor * map.factor * map.fanIn * map.weight.second *
                   at(map.first) +
               map.bias.second;
      break;
    case MapKind::norm:
      moment = normed(map.norm, at(map.first));
      break;
    case MapKind::activate:
      activation = momentsOf(map.function, at(map.first));
      moment = activation.second;
      ratio = activation.absolute;
      break;
    case MapKind::clamp:
      activation = clampMoments(map, at(map.first));
      moment = activation.second;
      ratio = activation.absolute;
      break;
    case MapKind::gate:
      activation = momentsOf(map.function, at(map.first));
      moment = activation.second * (at(map.second) + map.offset * map.offset);
      ratio = activation.absolute * rootOfTwoOverPi;
      break;
    case MapKind::add:
      moment = at(map.first) + at(map.second);
      break;
    case MapKind::scale:
      moment = map.factor * map.factor * at(map.first);
      ratio = passed.ratio[map.first];
      break;
    case MapKind::attend:
      moment = at(map.first);
      ratio = passed.ratio[map.first];
      break;
    }
    passed.value.push_back(moment);
    passed.ratio.push_back(ratio);
    passed.activation.push_back(activation);
  }
  return passed;
}

// Goes backward through a branch. Returns the moment of the gradient at its
// input if that at its value is 1, and adds its weights' part of the bounds to
// `update`.
double passBackward(const Branch &branch, const Passed &passed, double gradient,
                    std::array<double, 3> &update) {
  const auto &maps = branch.maps;
  std::vector<double> at(maps.size(), 0.0), ratio(maps.size(), rootOfTwoOverPi);
  at.back() = gradient;
  for (size_t i = maps.size(); i-- > 0;) {
    const Map &map = maps[i];
    const ActivationMoments &activation = passed.activation[i];
    switch (map.kind) {
    case MapKind::input:
      break;
    case MapKind::linear: {
      const double square = map.factor * map.factor;
      at[map.first] += square * map.channels * map.weight.second * at[i];
      const double count =
          map.weight.count ? map.weight.count : map.channels * map.fanIn;
      const double each = std::sqrt(square * passed.value[map.first] * at[i]);
      const double absolute = count * each * passed.ratio[map.first] * ratio[i];
      update[sgd] += count * each * each;
      update[adam] += absolute;
      update[lamb] += absolute * std::sqrt(count * map.weight.second);
      break;
    }
    case MapKind::norm:
      at[map.first] += normSlope(map.norm, passed.value[map.first]) * at[i];
      break;
    case MapKind::activate:
    case MapKind::clamp:
      at[map.first] += activation.slope * at[i];
      ratio[map.first] = activation.absoluteSlope * rootOfTwoOverPi;
      break;
    case MapKind::gate: {
      const double up = passed.value[map.second] + map.offset * map.offset;
      at[map.first] += activation.slope * up * at[i];
      at[map.second] += activation.second * at[i];
      ratio[map.first] =
          activation.absoluteSlope * rootOfTwoOverPi * rootOfTwoOverPi;
      ratio[map.second] = activation.absolute * rootOfTwoOverPi;
      break;
    }
    case MapKind::add:
      at[map.first] += at[i];
      at[map.second] += at[i];
      break;
    case MapKind::scale:
      at[map.first] += map.factor * map.factor * at[i];
      break;
    case MapKind::attend:
      at[map.first] += at[i];
      break;
    }
  }
  return at.front();
}

// The forward numbers of a unit.
struct UnitPass {
  std::vector<Passed> branches;
  std::vector<double> values; // of the branches, before norm and scale
  double tap = 1;             // E[r^2] / E[x^2]
};

UnitPass enter(const Unit &unit, UnitMoments &m) {
  UnitPass pass;
  const Norm &first = unit.branches.front().inNorm;
  const double tapped = unit.normedTap ? normed(first, m.in) : m.in;
  pass.tap = m.in > 0 ? tapped / m.in : 1;
  m.branch = 0;
  for (const Branch &branch : unit.branches) {
    pass.branches.push_back(passForward(branch, normed(branch.inNorm, m.in)));
    const double value = pass.branches.back().value.back();
    pass.values.push_back(value);
    m.branch += branch.scale * branch.scale * normed(branch.branchNorm, value);
  }
  m.sum = unit.skip * unit.skip * tapped + m.branch;
  m.out = unit.stream * unit.stream * normed(unit.outNorm, m.sum);
  return pass;
}

// The moment of the gradient at the unit's input, given that at its result.
double leave(const Unit &unit, const UnitPass &pass, UnitMoments &m,
             double gradient) {
  const double atSum =
      gradient * unit.stream * unit.stream * normSlope(unit.outNorm, m.sum);
  const Norm &first = unit.branches.front().inNorm;
  double atInput = atSum * unit.skip * unit.skip *
                   (unit.normedTap ? normSlope(first, m.in) : 1);
  for (size_t i = 0; i < unit.branches.size(); ++i) {
    const Branch &branch = unit.branches[i];
    const double atValue = atSum * branch.scale * branch.scale *
                           normSlope(branch.branchNorm, pass.values[i]);
    atInput += passBackward(branch, pass.branches[i], atValue, m.update) *
               normSlope(branch.inNorm, m.in);
  }
  return atInput;
}

} // namespace

std::vector<double> mille::analyze::forwardMoments(const Branch &branch,
                                                   double input) {
  return passForward(branch, input).value;
}

Moments mille::analyze::predict(const Stack &stack) {
  Moments all;
  std::vector<UnitPass> passes;
  double moment = stack.entry, weight = 1;
  for (const Unit &unit : stack.units) {
    UnitMoments m;
    m.in = moment;
    passes.push_back(enter(unit, m));
    moment = m.out;
    if (m.sum > 0) {
      // The part of the sum that comes from the input, as an amplitude.
      weight *= std::sqrt(std::max(0.0, m.sum - m.branch) / m.sum);
      all.effectiveDepth += m.branch / m.sum;
    }
    m.inputWeight = weight;
    all.units.push_back(m);
  }
  double gradient = 1 / std::max(stack.channels, 1.0), later = 1;
  for (size_t i = stack.units.size(); i-- > 0;) {
    UnitMoments &m = all.units[i];
    const double share = m.sum > 0 ? m.branch / m.sum : 0;
    m.branchWeight = later * std::sqrt(share);
    later *= std::sqrt(std::max(0.0, 1 - share));
    gradient = leave(stack.units[i], passes[i], m, gradient);
    m.gradient = gradient;
    for (size_t o = 0; o < m.update.size(); ++o)
      all.update[o] += m.update[o];
  }
  return all;
}

std::vector<LogitMoments> mille::analyze::logitsOf(const Unit &unit,
                                                   double input, double keys) {
  std::vector<LogitMoments> all;
  for (const Branch &branch : unit.branches) {
    std::vector<double> moments =
        passForward(branch, normed(branch.inNorm, input)).value;
    for (const Logits &logits : branch.logits) {
      LogitMoments m;
      m.second = logits.scale * logits.scale * logits.headDim *
                 moments[logits.query] * moments[logits.key];
      if (logits.softcap > 0)
        m.second = momentsOf(
                       [&](double x) {
                         return logits.softcap * std::tanh(x / logits.softcap);
                       },
                       m.second)
                       .second;
      // Takes scores as independent normals (the random energy model).
      const double most = 2 * std::log(std::max(keys, 2.0));
      m.saturation = m.second / most;
      m.keys = m.saturation >= 1 ? 1 : keys * std::exp(-m.second / 2);
      all.push_back(m);
    }
  }
  return all;
}

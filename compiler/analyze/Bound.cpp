// Computes lengths that no input exceeds: a norm gives sqrt(channels) * its
// largest weight, a linear multiplies by its operator norm, and an activation
// does not lengthen. Must not use moments, except for the stack's input.
#include "compiler/analyze/Analysis.h"

#include <cmath>

using namespace mille;
using namespace mille::analyze;
using transformer::Activation;

static double afterNorm(const Norm &norm, double channels, double length) {
  if (!norm.present)
    return length;
  return std::sqrt(channels) * norm.weight.largest + norm.bias.length;
}

static double afterActivation(const Map &map, double length) {
  switch (map.function) {
  case Activation::relu2: // sum x^4 <= (sum x^2)^2
    return length * length;
  case Activation::sigmoid:
    return std::sqrt(map.channels);
  case Activation::softplus: // <= |x| + ln 2
    return length + std::log(2.0) * std::sqrt(map.channels);
  case Activation::exp:
    return std::exp(length) * std::sqrt(map.channels);
  default: // |f(x)| <= |x|
    return length;
  }
}

static double afterBranch(const Branch &branch, double input) {
  std::vector<double> at;
  for (const Map &map : branch.maps) {
    const double first = map.first >= 0 ? at[map.first] : input;
    double length = first;
    switch (map.kind) {
    case MapKind::input:
      break;
    case MapKind::linear:
      length = std::fabs(map.factor) * first *
                   (map.weight.operatorNorm > 0 ? map.weight.operatorNorm
                                                : map.weight.length) +
               map.bias.length;
      break;
    case MapKind::norm:
      length = afterNorm(map.norm, map.channels, first);
      break;
    case MapKind::activate:
      length = afterActivation(map, first);
      break;
    case MapKind::clamp:
      length = std::min(first,
                        std::sqrt(map.channels) *
                            std::max(std::fabs(map.low), std::fabs(map.high)));
      break;
    case MapKind::gate:
      length =
          afterActivation(map, first) *
          (at[map.second] + std::fabs(map.offset) * std::sqrt(map.channels));
      break;
    case MapKind::add:
      length = first + at[map.second];
      break;
    case MapKind::scale:
      length = std::fabs(map.factor) * first;
      break;
    case MapKind::attend: // each head gives a mean of tokens
      length = first * std::sqrt(map.heads);
      break;
    }
    at.push_back(length);
  }
  return at.back();
}

std::vector<double> mille::analyze::lengthBounds(const Stack &stack) {
  std::vector<double> bounds;
  // Only the moment of the stack's input is known, so this assumes six
  // deviations in every channel.
  double length = 6 * std::sqrt(stack.entry * stack.channels);
  for (const Unit &unit : stack.units) {
    const Norm &first = unit.branches.front().inNorm;
    double sum =
        std::fabs(unit.skip) *
        (unit.normedTap ? afterNorm(first, stack.channels, length) : length);
    for (const Branch &branch : unit.branches) {
      const double value =
          afterBranch(branch, afterNorm(branch.inNorm, stack.channels, length));
      sum += std::fabs(branch.scale) *
             afterNorm(branch.branchNorm, stack.channels, value);
    }
    bounds.push_back(sum);
    length =
        std::fabs(unit.stream) * afterNorm(unit.outNorm, stack.channels, sum);
  }
  return bounds;
}

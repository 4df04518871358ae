// Sources: DeepNorm's alphas (DeepNet; torchscale), ChatGLM's sqrt(2 layers),
// MiniCPM's scale_depth / sqrt(layers).
#include "compiler/driver/commands/KnownNumbers.h"
#include "dialects/transformer/Transformer.h"

#include <cmath>

using namespace mille;
using transformer::formatDouble;

namespace {

// Equal up to the rounding errors of evaluating a formula in another order.
bool same(double a, double b) {
  return std::fabs(a - b) <= 1e-12 * std::fabs(b);
}

// `value` as a whole number in 1 .. 10^6, if it is one.
std::optional<int64_t> whole(double value) {
  double near = std::round(value);
  if (near < 1 || near > 1e6 || !same(value, near))
    return std::nullopt;
  return int64_t(near);
}

std::string text(int64_t number) { return std::to_string(number); }

// Formulas for an encoder (N layers) with a decoder (M layers).
std::optional<std::string> ofTwoStacks(double value, const Dimensions &model) {
  auto alpha = [](double encoder, double decoder) {
    return 0.81 * std::pow(std::pow(encoder, 4) * decoder, 1.0 / 16);
  };
  for (auto [n, m] : {std::pair{model.layers, model.otherLayers},
                      std::pair{model.otherLayers, model.layers}})
    if (n > 0 && m > 0) {
      if (same(value, alpha(n, m)))
        return "0.81*(" + text(n) + "^4*" + text(m) +
               ")^(1/16), DeepNorm's encoder alpha beside a decoder";
      if (same(value, std::pow(3.0 * m, 0.25)))
        return "(3*" + text(m) +
               ")^(1/4), DeepNorm's decoder alpha beside an encoder";
    }
  return std::nullopt;
}

} // namespace

std::optional<std::string> mille::knownScale(double value,
                                             const Dimensions &model) {
  if (!std::isfinite(value) || value == 1)
    return std::nullopt;
  if (auto known = ofTwoStacks(value, model))
    return known;
  double layers = model.layers;
  std::string alpha = model.causal ? ")^(1/4), DeepNorm's decoder alpha"
                                   : ")^(1/4), DeepNorm's encoder alpha";
  if (layers > 0 && same(value, std::pow(2 * layers, 0.25)))
    return "(2*" + text(model.layers) + alpha;
  if (layers > 0 && same(value, std::sqrt(2 * layers)))
    return "(2*" + text(model.layers) + ")^(1/2), ChatGLM's alpha";
  // A number of two decimals over the root of the depth: 1.4 / sqrt(62).
  if (double top = value * std::sqrt(layers);
      layers > 1 && value < 1 && same(top * 100, std::round(top * 100)))
    return formatDouble(std::round(top * 100) / 100) + "/sqrt(" +
           text(model.layers) + "), a branch scale by depth (MiniCPM)";
  // A short decimal is not explained by formulas of another depth.
  if (value <= 1 || same(value * 1000, std::round(value * 1000)))
    return std::nullopt;
  if (auto depth = whole(std::pow(value, 4) / 2); depth && *depth <= 5000)
    return "(2*" + text(*depth) + alpha + " of " + text(*depth) + " layers";
  if (auto depth = whole(value * value / 2); depth && *depth <= 5000)
    return "(2*" + text(*depth) + ")^(1/2), ChatGLM's alpha of " +
           text(*depth) + " layers";
  return std::nullopt;
}

std::optional<std::string> mille::knownRoot(double value) {
  if (value > 1)
    if (auto under = whole(value * value))
      return "sqrt(" + text(*under) + ")";
  if (value > 0 && value < 1)
    if (auto under = whole(1 / (value * value)))
      return "1/sqrt(" + text(*under) + ")";
  return std::nullopt;
}

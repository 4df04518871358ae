// Reads `rope` of a native spec.
#include "compiler/import/Rope.h"
#include "compiler/import/spec/Spec.h"

#include <cmath>

using namespace mille;
using namespace mille::import;
using namespace mille::transformer;
using llvm::StringRef;
using llvm::Twine;

namespace {

// Each pair is slowed by its own factor.
std::vector<double> dividedBy(SpecFields &scaling, StringRef key,
                              std::vector<double> frequencies) {
  std::vector<double> factors = scaling.numbers(key);
  if (factors.size() != frequencies.size()) {
    scaling.error(key, key + " has " + Twine(factors.size()) +
                           " entries but RoPE turns " +
                           Twine(frequencies.size()) + " pairs");
    return frequencies;
  }
  for (size_t i = 0; i < factors.size(); ++i)
    if (factors[i] > 0)
      frequencies[i] /= factors[i];
    else
      scaling.error(key, "an entry of " + key + " is " +
                             formatDouble(factors[i]) +
                             " but must be more than 0");
  return frequencies;
}

void scaleLong(SpecFields &scaling, double length, Rope &rope) {
  LongContext further;
  further.after = int64_t(length);
  further.frequencies = dividedBy(scaling, "long_factor", rope.frequencies);
  rope.frequencies = dividedBy(scaling, "short_factor", rope.frequencies);
  rope.longContext = std::move(further);
  double factor = scaling.has("factor") ? scaling.real("factor") : 1;
  double usual =
      factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(length));
  rope.attentionFactor = scaling.real("attention_factor", usual);
}

void scale(SpecFields scaling, double theta, Rope &rope) {
  enum { linear, dynamic, yarn, longrope, llama3 };
  size_t kind = scaling.choice("kind");
  double length =
      kind == linear ? 1 : double(scaling.whole("original_length").value);
  if (kind == longrope) {
    scaleLong(scaling, length, rope);
    return scaling.refuseRest();
  }
  double factor = scaling.real("factor");
  if (kind == linear) {
    for (double &frequency : rope.frequencies)
      frequency /= factor;
  } else if (kind == llama3) {
    double low = scaling.real("low_freq_factor"),
           high = scaling.real("high_freq_factor");
    if (high <= low)
      scaling.error("high_freq_factor",
                    "high_freq_factor is " + formatDouble(high) +
                        " but must be more than low_freq_factor, which is " +
                        formatDouble(low));
    else
      scaleLlama3(rope.frequencies, factor, low, high, length);
  } else if (kind == yarn) {
    rope.attentionFactor = yarnMagnitude(factor);
    scaleYarn(rope.frequencies, theta, factor, length,
              scaling.real("beta_fast"), scaling.real("beta_slow"),
              scaling.truth("truncate"));
  } else if (factor < 1 || rope.frequencies.size() < 2) {
    scaling.error("factor", "factor is " + formatDouble(factor) + " for " +
                                Twine(rope.frequencies.size()) +
                                " pairs but dynamic RoPE needs a factor from 1 "
                                "and 2 pairs");
  } else {
    rope.longContext = LongContext{int64_t(length), factor, {}};
  }
  rope.attentionFactor = scaling.real("attention_factor", rope.attentionFactor);
  scaling.refuseRest();
}

} // namespace

Rope mille::import::readRope(SpecFields &rope, const Extent &headDim) {
  Rope read;
  double theta = rope.real("theta");
  Extent rotary = rope.whole("rotary_dim", headDim.value);
  if (rotary.value % 2 || rotary.value > headDim.value) {
    rope.error("rotary_dim", "rotary_dim is " + Twine(rotary.value) +
                                 " but must be even and at most head_dim, "
                                 "which is " +
                                 Twine(headDim.value))
        .note(headDim.at, "head_dim is given here");
    rotary.value = 2;
  }
  read.frequencies = ropeFrequencies(theta, rotary.value);
  read.pairing =
      rope.choice("pairing") == 0 ? Pairing::half : Pairing::interleaved;
  if (auto scaling = rope.inner("scaling"))
    scale(std::move(*scaling), theta, read);
  if (rope.choice("sign") == 1) {
    for (double &frequency : read.frequencies)
      frequency = -frequency;
    if (read.longContext)
      for (double &frequency : read.longContext->frequencies)
        frequency = -frequency;
  }
  rope.refuseRest();
  return read;
}

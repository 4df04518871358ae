// Computes frequencies and slopes, in double.
#include "compiler/import/Rope.h"

#include <algorithm>
#include <cmath>

std::vector<double> mille::import::ropeFrequencies(double theta,
                                                   int64_t rotaryDim) {
  std::vector<double> frequencies((rotaryDim + 1) / 2);
  for (size_t i = 0; i < frequencies.size(); ++i)
    frequencies[i] = std::pow(theta, -2.0 * double(i) / double(rotaryDim));
  return frequencies;
}

void mille::import::scaleLlama3(std::vector<double> &frequencies, double factor,
                                double low, double high, double trained) {
  constexpr double turn = 6.283185307179586476925;
  for (double &frequency : frequencies) {
    const double turns =
        trained * frequency / turn; // within the trained length
    if (turns < low)
      frequency /= factor;
    else if (turns <= high) {
      const double stay = (turns - low) / (high - low);
      frequency = (1 - stay) * frequency / factor + stay * frequency;
    }
  }
}

void mille::import::scaleYarn(std::vector<double> &frequencies, double theta,
                              double factor, double trained, double fast,
                              double slow, bool truncated) {
  constexpr double turn = 6.283185307179586476925;
  const double dimensions = 2 * double(frequencies.size());
  auto pairThatTurns = [&](double times) {
    return dimensions * std::log(trained / (times * turn)) /
           (2 * std::log(theta));
  };
  double low = pairThatTurns(fast), high = pairThatTurns(slow);
  if (truncated) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, dimensions - 1);
  if (low == high)
    high += 0.001;
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const double slowed =
        std::clamp((double(i) - low) / (high - low), 0.0, 1.0);
    frequencies[i] =
        frequencies[i] / factor * slowed + frequencies[i] * (1 - slowed);
  }
}

double mille::import::yarnMagnitude(double factor, double weight) {
  return factor <= 1 ? 1 : 0.1 * weight * std::log(factor) + 1;
}

std::vector<double> mille::import::alibiSlopes(int64_t heads) {
  // A geometric series for a power of two; the heads beyond it take every
  // second slope of the series for twice as many.
  int64_t power = 1;
  while (power * 2 <= heads)
    power *= 2;
  std::vector<double> slopes(heads);
  for (int64_t h = 0; h < heads; ++h)
    slopes[h] =
        h < power
            ? std::exp2(-8.0 * double(h + 1) / double(power))
            : std::exp2(-4.0 * double(2 * (h - power) + 1) / double(power));
  return slopes;
}

// Plain arithmetic in double.
#include "compiler/import/Rope.h"

#include <cmath>

std::vector<double> mille::import::ropeFrequencies(double theta,
                                                   int64_t rotaryDim) {
  std::vector<double> frequencies(rotaryDim / 2);
  for (size_t i = 0; i < frequencies.size(); ++i)
    frequencies[i] = std::pow(theta, -2.0 * double(i) / double(rotaryDim));
  return frequencies;
}

void mille::import::scaleLlama3(std::vector<double> &frequencies, double factor,
                                double low, double high, double trained) {
  constexpr double turn = 6.283185307179586476925;
  for (double &frequency : frequencies) {
    const double turns = trained * frequency / turn; // within the trained length
    if (turns < low)
      frequency /= factor;
    else if (turns <= high) {
      const double stay = (turns - low) / (high - low);
      frequency = (1 - stay) * frequency / factor + stay * frequency;
    }
  }
}

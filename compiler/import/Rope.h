// The frequencies of RoPE under the scalings that only change frequencies.
#pragma once
#include <cstdint>
#include <vector>

namespace mille::import {

// theta^(-2i / rotaryDim), i < rotaryDim / 2.
std::vector<double> ropeFrequencies(double theta, int64_t rotaryDim);

// Llama 3's: wavelengths beyond `trained / low` are slowed by `factor`, those
// below `trained / high` stay, between them a linear blend.
void scaleLlama3(std::vector<double> &frequencies, double factor, double low,
                 double high, double trained);

} // namespace mille::import

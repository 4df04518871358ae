// The frequencies of RoPE under the scalings that only change frequencies, and
// the slopes of ALiBi.
#pragma once
#include <cstdint>
#include <vector>

namespace mille::import {

// theta^(-2i / rotaryDim), i < rotaryDim / 2: of an odd number one pair more
// than it has.
std::vector<double> ropeFrequencies(double theta, int64_t rotaryDim);

// Llama 3's: wavelengths beyond `trained / low` are slowed by `factor`, those
// below `trained / high` stay, between them a linear blend.
void scaleLlama3(std::vector<double> &frequencies, double factor, double low,
                 double high, double trained);

// YaRN: pairs that turn more than `fast` times within `trained` tokens stay,
// those that turn less than `slow` times are slowed by `factor`, between them a
// ramp, whose ends are whole pairs where `truncated`.
void scaleYarn(std::vector<double> &frequencies, double theta, double factor,
               double trained, double fast, double slow, bool truncated);

// 0.1 weight ln(factor) + 1; 1 where nothing is stretched.
double yarnMagnitude(double factor, double weight = 1);

// Slopes of ALiBi for any number of heads.
std::vector<double> alibiSlopes(int64_t heads);

} // namespace mille::import

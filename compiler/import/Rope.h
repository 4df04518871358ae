// Computes RoPE's frequencies under scalings that only change frequencies, and
// the slopes of ALiBi. Must not read a config.
#pragma once
#include <cstdint>
#include <vector>

namespace mille::import {

// theta^(-2i / rotaryDim) for i < rotaryDim / 2; an odd rotaryDim is rounded
// up.
std::vector<double> ropeFrequencies(double theta, int64_t rotaryDim);

// Llama 3's scaling: frequencies with wavelengths beyond `trained / low` are
// divided by `factor`, those below `trained / high` stay, and those between are
// blended linearly.
void scaleLlama3(std::vector<double> &frequencies, double factor, double low,
                 double high, double trained);

// YaRN: pairs that turn more than `fast` times within `trained` tokens keep
// their frequency, and those that turn less than `slow` times have it divided
// by `factor`. Between them is a ramp; if `truncated`, it ends at whole pairs.
void scaleYarn(std::vector<double> &frequencies, double theta, double factor,
               double trained, double fast, double slow, bool truncated);

// 0.1 weight ln(factor) + 1, or 1 if the factor stretches nothing.
double yarnMagnitude(double factor, double weight = 1);

// Slopes of ALiBi for any number of heads.
std::vector<double> alibiSlopes(int64_t heads);

} // namespace mille::import

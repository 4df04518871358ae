// The ceiling that kernel figures are given as a share of.
#pragma once

namespace mille {

// f32 operations per second of one core with vectors of 512 or 256 bits, from one
// burst of 15 to 30 microseconds.
double peakFlops(bool wide);

} // namespace mille

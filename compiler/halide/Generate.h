// The room's door: kernels by Halide, for CPUs and for devices of OpenCL.
// Must not know what the model is; sees one kernel at a time.
#pragma once
#include "compiler/kernels/Generator.h"

namespace mille {

// Inputs are whole, or a slice whose minimum says where it starts; the out's
// minima and extents are the task's range, its rows within one sequence for
// attention: sequence s has the query rows s * queries ... and the key rows
// s * keys ... Objects are kept on disk ($XDG_CACHE_HOME/mille).
const Generator &halideGenerator();

} // namespace mille

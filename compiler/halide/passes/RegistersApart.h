// Registers get memory that no other allocation shares.
// Must not be included outside of compiler/halide.
#pragma once
#include "Halide.h"

namespace mille {

// A lowering pass for CPUs.
Halide::Internal::IRMutator *keepRegistersApart();

} // namespace mille

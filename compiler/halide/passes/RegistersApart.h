// What shall be registers has memory that nothing else takes. Private to this
// room.
#pragma once
#include "Halide.h"

namespace mille {

// To be added as a lowering pass, for a CPU.
Halide::Internal::IRMutator *keepRegistersApart();

} // namespace mille

// Sums of a work-group that live over steps which all its items take together:
// each item keeps its own in registers. Private to this room.
#pragma once
#include "Halide.h"

namespace mille {

// Halide gives every item room for the whole group's; this leaves `each`
// elements. Of a func of the name, stored in registers, whose elements an item
// shares with none. To be added as a lowering pass.
Halide::Internal::IRMutator *itemRegisters(const std::string &func, int each);

} // namespace mille

// Conditions out of a loop. Private to this room.
#pragma once
#include "Halide.h"

#include <functional>

namespace mille {

// For each value of the conditions that are the same in all steps of a loop,
// what `make` makes of the loop without them. Each implies those that the body
// has before it.
Halide::Internal::Stmt unswitched(
    const Halide::Internal::For *loop,
    const std::function<Halide::Internal::Stmt(const Halide::Internal::For *)>
        &make);

} // namespace mille

// Loop unswitching. Must not be included outside of compiler/halide.
#pragma once
#include "Halide.h"

#include <functional>
#include <string>

namespace mille {

// The first condition of a body that lowering has found to be loop-invariant;
// undefined if there is none.
Halide::Expr firstCondition(const Halide::Internal::Stmt &body);

// Moves the loop-invariant conditions of a loop out of it: `make` gets the loop
// once for each combination of their values. A condition must imply the
// conditions that the body has before it.
Halide::Internal::Stmt unswitched(
    const Halide::Internal::For *loop,
    const std::function<Halide::Internal::Stmt(const Halide::Internal::For *)>
        &make);

// A lowering pass: unswitches every loop of the first update of `function`.
Halide::Internal::IRMutator *unswitchUpdate(std::string function);

} // namespace mille

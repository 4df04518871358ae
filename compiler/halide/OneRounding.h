// Arithmetic that rounds once and stays where it stands. Must not be left to
// LLVM's reassociation, which differs from loop to loop.
#pragma once
#include "Halide.h"

namespace mille {

// a op b with one rounding, never moved or fused: what follows a tile must give
// the same bits in its main loop, its tail and the tile of the other row class.
Halide::Expr oneRounding(Halide::Internal::Call::IntrinsicOp op,
                         const Halide::Expr &a, const Halide::Expr &b);
// The same of x + y, and of x y.
Halide::Expr added(const Halide::Expr &x, const Halide::Expr &y);
Halide::Expr multiplied(const Halide::Expr &x, const Halide::Expr &y);

} // namespace mille

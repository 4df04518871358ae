// Elements of buffers in Halide's types: kernels compute in f32, whatever they read.
// Private to this room.
#pragma once
#include "compiler/halide/Spec.h"

#include "Halide.h"

namespace mille {

Halide::Type typeOf(Element element);

// A narrow float as f32; any other as it is.
Halide::Expr widened(const Halide::Expr &x);

// An f32 as `element`, f32 or bf16, to nearest, ties to even; a NaN stays one.
Halide::Expr rounded(const Halide::Expr &x, Element element);

} // namespace mille

// Elements of buffers in Halide's types: kernels compute in f32, whatever they
// read. Private to this room.
#pragma once
#include "compiler/halide/Spec.h"

#include "Halide.h"

namespace mille {

Halide::Type typeOf(Element element);

// A narrow float as f32, also as its bits; any other as it is.
Halide::Expr widened(const Halide::Expr &x);

// An f32 as `element`, f32 or one of bf16's, to nearest, ties to even; a NaN
// stays one. Numbers below 2^-126 are 0 where it is bf16's own instruction
// (RoundingInstruction.h).
Halide::Expr rounded(const Halide::Expr &x, Element element);

// Element `part` of those that lie side by side in a word of 32 bits: a bf16 as
// f32, a signed byte (`element` is that of the rows it meets: u8) as i32.
Halide::Expr partOf(const Halide::Expr &word, const Halide::Expr &part,
                    Element element);

// The same kernel for a target that has no bf16: buffers hold the bits.
KernelSpec withoutBf16(KernelSpec spec);

} // namespace mille

// Elements of buffers in Halide's types: kernels compute in f32, whatever they
// read. Must not be included outside of compiler/halide.
#pragma once
#include "compiler/kernels/Spec.h"

#include "Halide.h"

namespace mille {

Halide::Type typeOf(Element element);

// A narrow float, or its bits, as f32; any other number unchanged.
Halide::Expr widened(const Halide::Expr &x);

// An f32 rounded to `element` (f32 or bf16), to nearest, ties to even; a NaN
// stays NaN. The CPU's instruction (RoundingInstruction.h) rounds numbers below
// 2^-126 to 0.
Halide::Expr rounded(const Halide::Expr &x, Element element);

// Element `part` of a word of 32 bits: a bf16 as f32, a signed byte as i32.
// `element` is the element of the rows that multiply it: bf16, or u8.
Halide::Expr partOf(const Halide::Expr &word, const Halide::Expr &part,
                    Element element);

// The same kernel for a target that has no bf16: buffers hold the bits.
KernelSpec withoutBf16(KernelSpec spec);

} // namespace mille

// Elements of buffers in Halide's types: kernels compute in f32, whatever they
// read. Must not be included outside of compiler/halide.
#pragma once
#include "compiler/kernels/Spec.h"

#include "Halide.h"

namespace mille {

Halide::Type typeOf(Element element);

// A narrow float, or its bits, as f32; any other number unchanged.
Halide::Expr widened(const Halide::Expr &x);

// An f32 rounded to `element` (a float), to nearest, ties to even; a NaN
// stays NaN. The CPU's instruction (RoundingInstruction.h) rounds numbers below
// 2^-126 to 0.
Halide::Expr rounded(const Halide::Expr &x, Element element);

// Element `part` of a word of 32 bits: a float of 16 bits as f32, a signed byte
// as i32. `element` is the element of the rows that multiply it, of bytes u8.
Halide::Expr partOf(const Halide::Expr &word, const Halide::Expr &part,
                    Element element);

// The same kernel for a target without this type: buffers hold the bits.
KernelSpec with(Element bits, Element element, KernelSpec spec);

} // namespace mille

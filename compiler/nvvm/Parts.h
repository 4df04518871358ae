// f32 as three parts of bf16, for products of f32 on tensor cores. Must not
// know where operands lie.
#pragma once
#include "compiler/nvvm/Builder.h"

namespace mille::nvvm {

// x = x1 + x2 + x3 exactly, where x1 is x rounded to bf16, x2 what is left
// rounded again, x3 the rest: 24 bits are 8 + 8 + 8. Of the nine products of
// parts x2 y3, x3 y2 and x3 y3 are left out, at most 2^-23 |x y|; the others
// are exact in f32. They are added for a few dozen values of K at a time, the
// small ones first, in the accumulators of the tensor cores, which cut numbers
// off where f32 rounds; such sums are added in f32 registers.
//
// With u = 2^-24 and sums of 32 values an element's error is at most
// (K / 32 + 80) u sum |x y|: below the K u sum |x y| of any sum in f32 from
// K = 83 on. An infinity, or a number that bf16 rounds to one, gives NaN.
constexpr unsigned parts = 3;
constexpr unsigned rawColumns = 32; // f32 of a line

// The parts of operand A and of operand B whose products are added, in order.
constexpr unsigned partProducts[][2] = {{0, 2}, {2, 0}, {1, 1},
                                        {0, 1}, {1, 0}, {0, 0}};

// Of pairs of values: a word for each in each part.
std::vector<Regs> partsOf(Builder &builder, const Regs &values);

} // namespace mille::nvvm

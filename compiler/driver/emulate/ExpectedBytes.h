// What kernel.quantize computes, and the rows of a matmul of bytes.
#pragma once
#include "compiler/driver/emulate/Operands.h"

namespace mille::emulated {

// The rows that a matmul multiplies: of bytes, the numbers that they stand for.
std::vector<double> rowsOf(const MatmulSpec &matmul,
                           const std::vector<Operand> &operands);

// From the input, which is the first operand, the bytes and their parameters.
// In f32, since the bytes are those of every instruction set.
void computeBytes(std::vector<Operand> &operands);

} // namespace mille::emulated

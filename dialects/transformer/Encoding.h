// How the numbers of a stored row are written: one by one, or in blocks that
// share a scale. Knows sizes and names; compiler/weights reads the numbers.
#pragma once
#include "dialects/transformer/Transformer.h"

#include <optional>

namespace mille {

using transformer::Encoding;

// As files spell it: "F32", "Q4_K".
llvm::StringRef nameOf(Encoding encoding);
std::optional<Encoding> encodingNamed(llvm::StringRef name);

// Numbers of one block, and the bytes that hold them; 1 where there are none.
int64_t blockLength(Encoding encoding);
int64_t blockBytes(Encoding encoding);
inline bool isBlocks(Encoding encoding) { return blockLength(encoding) > 1; }

// Whether matmuls read weights in blocks of this encoding.
inline bool isMultiplied(Encoding encoding) {
  return encoding == Encoding::q8_0 || encoding == Encoding::q5_0 ||
         encoding == Encoding::q4_0;
}

// Of a row of so many numbers: none where they are no whole blocks, or the
// bytes do not fit 64 bits.
std::optional<int64_t> bytesOfRow(Encoding encoding, int64_t numbers);

} // namespace mille

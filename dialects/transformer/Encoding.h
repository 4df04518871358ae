// How the numbers of a stored row are written: one by one, or in blocks that
// share a scale. Knows sizes and names; compiler/weights reads the numbers.
#pragma once
#include "dialects/transformer/BlockForm.h"
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

// How matmuls read weights in blocks of this encoding; false: they do not.
BlockForm blockFormOf(Encoding encoding);
inline bool isMultiplied(Encoding encoding) {
  return bool(blockFormOf(encoding));
}
// Those that they read, the most exact first: "q8_0, q6_k, ... q4_0".
llvm::ArrayRef<Encoding> multipliedEncodings();
std::string multipliedNames();

// Of a row of so many numbers: none where they are no whole blocks, or the
// bytes do not fit 64 bits.
std::optional<int64_t> bytesOfRow(Encoding encoding, int64_t numbers);

} // namespace mille

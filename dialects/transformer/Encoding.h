// The encodings of a stored row: numbers one by one, or blocks that share a
// scale. Must know sizes and names only; compiler/weights reads the numbers.
#pragma once
#include "dialects/transformer/BlockForm.h"
#include "dialects/transformer/Transformer.h"

#include <optional>

namespace mille {

using transformer::Encoding;

// The encoding's name in files: "F32", "Q4_K".
llvm::StringRef nameOf(Encoding encoding);
std::optional<Encoding> encodingNamed(llvm::StringRef name);

// The numbers and the bytes of a block. Without blocks a number counts as one.
int64_t blockLength(Encoding encoding);
int64_t blockBytes(Encoding encoding);
inline bool isBlocks(Encoding encoding) { return blockLength(encoding) > 1; }

// The layout in which matmuls read weights of this encoding; false if they do
// not.
BlockForm blockFormOf(Encoding encoding);
inline bool isMultiplied(Encoding encoding) {
  return bool(blockFormOf(encoding));
}
// The encodings that matmuls read, the most exact first: "q8_0, q6_k, ...
// mxfp4".
llvm::ArrayRef<Encoding> multipliedEncodings();
std::string multipliedNames();

// The bytes of a row of so many numbers. Nothing if they are not whole blocks,
// or if the bytes do not fit 64 bits.
std::optional<int64_t> bytesOfRow(Encoding encoding, int64_t numbers);

} // namespace mille

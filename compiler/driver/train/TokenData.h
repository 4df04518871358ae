// Sequences of tokens to train on, from a flat file of numbers or a safetensors
// file. Must not keep more in memory than the file's mapping.
#pragma once
#include "compiler/Status.h"
#include "compiler/weights/TensorFile.h"

#include <memory>
#include <string>
#include <vector>

namespace mille {

// The elements of a flat file.
enum class TokenWidth { u8, u16, u32 };

class TokenData {
public:
  // Opens a safetensors file with `input_ids` [sequences, tokens] (and
  // `labels`, `attention_mask` of the same shape), or else a flat file, which
  // is cut into stretches of `tokens`. 0: a flat file is refused.
  static Status open(const std::string &path, TokenWidth width, int64_t tokens,
                     mlir::MLIRContext &context,
                     std::unique_ptr<TokenData> &data);

  int64_t sequences() const { return count; }
  int64_t tokens() const { return length; } // of a sequence
  bool hasMask() const { return mask; }

  // Copies sequence number `index`. Without labels of the file a token's label
  // is the next token; the last of a safetensors sequence has none (-100).
  // False at a number that 32 bits do not hold.
  bool read(int64_t index, int32_t *ids, int32_t *labels,
            int32_t *visible) const;

  // A short text that differs where the file's size or its ends do.
  std::string mark() const;

private:
  int32_t flat(int64_t at) const;

  std::unique_ptr<TensorFile> file;
  std::unique_ptr<llvm::MemoryBuffer> bytes; // of a flat file
  TokenWidth width = TokenWidth::u16;
  const StoredTensor *ids = nullptr, *given = nullptr, *mask = nullptr;
  int64_t count = 0, length = 0;
};

} // namespace mille

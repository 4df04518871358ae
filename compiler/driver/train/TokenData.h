// Sequences to train on, from a flat file of tokens or a safetensors file.
// Must not keep more in memory than the file's mapping, nor know a model.
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
  // Opens a safetensors file, whose tensors have a row for each sequence, or
  // else a flat file, which is cut into stretches of `tokens`. 0: it is not cut
  // yet.
  static Status open(const std::string &path, TokenWidth width, int64_t tokens,
                     mlir::MLIRContext &context,
                     std::unique_ptr<TokenData> &data);
  // Cuts a flat file that was not cut.
  Status cut(int64_t tokens, mlir::MLIRContext &context);

  bool isFlat() const { return bytes != nullptr; }
  const std::string &name() const { return path; }
  int64_t sequences() const { return count; }
  // Of a sequence of a flat file, or of input_ids; 0: not known.
  int64_t tokens() const { return length; }
  // A flat file's token; the one behind the last of a sequence is the first of
  // the next.
  int32_t token(int64_t sequence, int64_t at) const {
    return flat(sequence * length + at);
  }
  // Of a safetensors file; null: there is none.
  const StoredTensor *find(llvm::StringRef name) const {
    return file ? file->find(name) : nullptr;
  }
  llvm::ArrayRef<StoredTensor> tensors() const {
    return file ? file->tensors() : llvm::ArrayRef<StoredTensor>();
  }

  // A short text that differs where the file's size or its ends do.
  std::string mark() const;

private:
  int32_t flat(int64_t at) const;

  std::string path;
  std::unique_ptr<TensorFile> file;
  std::unique_ptr<llvm::MemoryBuffer> bytes; // of a flat file
  TokenWidth width = TokenWidth::u16;
  int64_t count = 0, length = 0;
};

} // namespace mille

// Must check every length before it is used: the file may be any file.
#include "compiler/driver/train/TokenData.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "runtime/abi.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace mille;
using llvm::StringRef;

namespace {

mlir::InFlightDiagnostic errorOn(StringRef path, mlir::MLIRContext &context) {
  return mlir::emitError(mlir::FileLineColLoc::get(&context, path, 0, 0));
}

int64_t bytesOf(TokenWidth width) {
  return width == TokenWidth::u8 ? 1 : width == TokenWidth::u16 ? 2 : 4;
}

// Whether the file begins as safetensors do: a length, then an object.
bool isSafetensors(StringRef bytes) {
  return bytes.size() > 9 && bytes[8] == '{' &&
         llvm::support::endian::read64le(bytes.data()) <= bytes.size() - 8;
}

} // namespace

Status TokenData::open(const std::string &path, TokenWidth width,
                       int64_t tokens, mlir::MLIRContext &context,
                       std::unique_ptr<TokenData> &data) {
  data = std::make_unique<TokenData>();
  data->width = width;
  data->path = path;
  std::unique_ptr<llvm::MemoryBuffer> bytes = TensorFile::map(path, context);
  if (!bytes)
    return Status::input;
  if (isSafetensors(bytes->getBuffer())) {
    data->file = TensorFile::open(path, context);
    if (!data->file)
      return Status::input;
    const StoredTensor *ids = data->file->find("input_ids");
    if (data->tensors().empty() || data->tensors().front().shape.empty()) {
      errorOn(path, context) << "has no tensor with a row for each sequence";
      return Status::input;
    }
    const StoredTensor &first = ids ? *ids : data->tensors().front();
    data->count = first.shape.empty() ? 0 : first.shape[0];
    data->length = ids && ids->shape.size() == 2 ? ids->shape[1] : 0;
    if (!data->count) {
      errorOn(path, context) << "has no sequences";
      return Status::input;
    }
    if (tokens && tokens != data->length) {
      errorOn(path, context) << "has sequences of " << data->length
                             << " tokens but --tokens is " << tokens;
      return Status::input;
    }
    return Status::done;
  }
  const int64_t each = bytesOf(width), size = bytes->getBufferSize();
  if (size % each) {
    errorOn(path, context) << "has " << size << " bytes, no multiple of the "
                           << each << " of a token";
    return Status::input;
  }
  data->bytes = std::move(bytes);
  return tokens ? data->cut(tokens, context) : Status::done;
}

Status TokenData::cut(int64_t tokens, mlir::MLIRContext &context) {
  const int64_t all = bytes->getBufferSize() / bytesOf(width);
  if (!tokens) {
    errorOn(path, context) << "is a flat file but the model takes any number "
                              "of tokens: --tokens says how many";
    return Status::input;
  }
  length = tokens;
  count = std::max<int64_t>(0, all - 1) / tokens;
  if (count)
    return Status::done;
  errorOn(path, context) << "has " << all << " tokens but a sequence takes "
                         << tokens << " and the one after them";
  return Status::input;
}

int32_t TokenData::flat(int64_t at) const {
  const char *from = bytes->getBufferStart() + at * bytesOf(width);
  switch (width) {
  case TokenWidth::u8:
    return uint8_t(*from);
  case TokenWidth::u16:
    return llvm::support::endian::read16le(from);
  case TokenWidth::u32: {
    const uint32_t value = llvm::support::endian::read32le(from);
    return value > uint32_t(INT32_MAX) ? INT32_MAX : int32_t(value);
  }
  }
  return 0;
}

std::string TokenData::mark() const {
  constexpr size_t most = 1 << 20;
  uint64_t hash = MILLE_HASH_START;
  auto add = [&](llvm::ArrayRef<char> data) {
    const uint64_t size = data.size();
    hash = mille_weights_hash(hash, &size, sizeof size);
    hash = mille_weights_hash(hash, data.data(), std::min(most, data.size()));
    if (data.size() > most)
      hash = mille_weights_hash(hash, data.end() - most, most);
  };
  if (bytes)
    add(llvm::ArrayRef(bytes->getBufferStart(), bytes->getBufferSize()));
  // Those that a language model has come first, whatever the file's order.
  const StringRef known[] = {"input_ids", "labels", "attention_mask"};
  for (StringRef name : known)
    if (const StoredTensor *tensor = find(name))
      add(tensor->bytes);
  for (const StoredTensor &tensor : tensors())
    if (!llvm::is_contained(known, tensor.name))
      add(tensor.bytes);
  return llvm::utohexstr(hash, /*LowerCase=*/true);
}

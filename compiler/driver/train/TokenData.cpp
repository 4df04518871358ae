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

constexpr int32_t noLabel = -100;

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

bool isWhole(Encoding type) {
  return type == Encoding::i64 || type == Encoding::i32 ||
         type == Encoding::i16 || type == Encoding::u8 || type == Encoding::i8;
}

} // namespace

Status TokenData::open(const std::string &path, TokenWidth width,
                       int64_t tokens, mlir::MLIRContext &context,
                       std::unique_ptr<TokenData> &data) {
  data = std::make_unique<TokenData>();
  data->width = width;
  std::unique_ptr<llvm::MemoryBuffer> bytes = TensorFile::map(path, context);
  if (!bytes)
    return Status::input;
  if (isSafetensors(bytes->getBuffer())) {
    data->file = TensorFile::open(path, context);
    if (!data->file)
      return Status::input;
    data->ids = data->file->find("input_ids");
    data->given = data->file->find("labels");
    data->mask = data->file->find("attention_mask");
    if (!data->ids || data->ids->shape.size() != 2 ||
        !isWhole(data->ids->type)) {
      errorOn(path, context) << "has no input_ids of whole numbers, "
                                "[sequences, tokens]";
      return Status::input;
    }
    for (const StoredTensor *tensor : {data->given, data->mask})
      if (tensor &&
          (tensor->shape != data->ids->shape || !isWhole(tensor->type))) {
        errorOn(path, context)
            << tensor->name
            << " has another shape than input_ids, or no whole "
               "numbers";
        return Status::input;
      }
    data->count = data->ids->shape[0];
    data->length = data->ids->shape[1];
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
  data->length = tokens;
  data->count = std::max<int64_t>(0, size / each - 1) / tokens;
  data->bytes = std::move(bytes);
  if (data->count)
    return Status::done;
  errorOn(path, context) << "has " << size / each
                         << " tokens but a sequence takes " << tokens
                         << " and the one after them";
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

bool TokenData::read(int64_t index, int32_t *into, int32_t *labels,
                     int32_t *visible) const {
  if (bytes) {
    for (int64_t t = 0; t < length; ++t) {
      into[t] = flat(index * length + t);
      labels[t] = flat(index * length + t + 1);
      visible[t] = 1;
    }
    return true;
  }
  std::vector<double> row(length);
  auto take = [&](const StoredTensor &tensor, int32_t *to) {
    tensor.read(index * length, row);
    for (int64_t t = 0; t < length; ++t) {
      if (!(row[t] >= INT32_MIN && row[t] <= INT32_MAX))
        return false;
      to[t] = int32_t(row[t]);
    }
    return true;
  };
  if (!take(*ids, into) || (mask && !take(*mask, visible)))
    return false;
  if (!mask)
    std::fill_n(visible, length, 1);
  if (given)
    return take(*given, labels);
  for (int64_t t = 0; t < length; ++t)
    labels[t] =
        t + 1 < length && visible[t] && visible[t + 1] ? into[t + 1] : noLabel;
  return true;
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
  for (const StoredTensor *tensor : {ids, given, mask})
    if (tensor)
      add(tensor->bytes);
  return llvm::utohexstr(hash, /*LowerCase=*/true);
}

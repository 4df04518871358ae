// Maps a file, recognises its format, and reads elements of its tensors.
#include "compiler/weights/TensorFile.h"
#include "compiler/weights/Blocks.h"
#include "compiler/weights/Elements.h"
#include "compiler/weights/Gguf.h"
#include "compiler/weights/Safetensors.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>

using namespace mille;

namespace {

// Decodes whole blocks to a buffer and copies the requested part.
template <typename Number>
void readBlocks(const StoredTensor &tensor, int64_t first,
                llvm::MutableArrayRef<Number> into) {
  const int64_t length = blockLength(tensor.type);
  const int64_t width = blockBytes(tensor.type);
  const int64_t end = first + int64_t(into.size());
  float numbers[longestBlock];
  Number *next = into.data();
  for (int64_t at = first; at < end;) {
    decodeBlock(tensor.type, tensor.bytes.data() + at / length * width,
                numbers);
    const int64_t within = at % length,
                  now = std::min(length - within, end - at);
    next = std::copy_n(numbers + within, now, next);
    at += now;
  }
}

} // namespace

int64_t StoredTensor::elements() const {
  return int64_t(bytes.size()) / blockBytes(type) * blockLength(type);
}

void StoredTensor::read(int64_t first,
                        llvm::MutableArrayRef<double> into) const {
  if (isBlocks(type))
    return readBlocks(*this, first, into);
  const int64_t width = blockBytes(type);
  const char *from = bytes.data() + first * width;
  withLoader(type, [&](auto load) {
    for (size_t i = 0; i < into.size(); ++i)
      into[i] = load(from + i * width);
  });
}

void StoredTensor::read(int64_t first,
                        llvm::MutableArrayRef<float> into) const {
  if (isBlocks(type))
    return readBlocks(*this, first, into);
  const int64_t width = blockBytes(type);
  const char *from = bytes.data() + first * width;
  if (type == Encoding::f32) {
    if (!into.empty())
      std::memcpy(into.data(), from, into.size() * sizeof(float));
    return;
  }
  withLoader(type, [&](auto load) {
    for (size_t i = 0; i < into.size(); ++i)
      into[i] = float(load(from + i * width));
  });
}

TensorFile::TensorFile(llvm::StringRef path,
                       std::unique_ptr<llvm::MemoryBuffer> bytes,
                       std::vector<StoredTensor> tensors)
    : filePath(path.str()), buffer(std::move(bytes)), all(std::move(tensors)) {
  for (size_t i = 0; i < all.size(); ++i)
    byName[all[i].name] = i;
}

std::unique_ptr<llvm::MemoryBuffer>
TensorFile::map(llvm::StringRef path, mlir::MLIRContext &context) {
  mlir::Location at = mlir::FileLineColLoc::get(&context, path, 0, 0);
  llvm::sys::fs::file_status status;
  std::error_code error = llvm::sys::fs::status(path, status);
  if (!error && !llvm::sys::fs::is_regular_file(status)) {
    mlir::emitError(at) << "is not a regular file";
    return nullptr;
  }
  // Only regular files get here: reading a pipe might not end.
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer) {
    mlir::emitError(at) << "cannot read the file: "
                        << buffer.getError().message();
    return nullptr;
  }
  return std::move(*buffer);
}

// The first bytes tell the formats apart: read as the length of a safetensors
// header, those of GGUF are a gigabyte.
std::unique_ptr<TensorFile> TensorFile::open(llvm::StringRef path,
                                             mlir::MLIRContext &context) {
  std::unique_ptr<llvm::MemoryBuffer> bytes = map(path, context);
  if (!bytes)
    return nullptr;
  if (bytes->getBuffer().starts_with("GGUF"))
    return Gguf::read(path, std::move(bytes), context);
  return Safetensors::read(path, std::move(bytes), context);
}

const StoredTensor *TensorFile::find(llvm::StringRef name) const {
  auto found = byName.find(name);
  return found == byName.end() ? nullptr : &all[found->second];
}

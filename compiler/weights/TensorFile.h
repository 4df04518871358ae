// The door to files of tensors, whatever their format: mapped, checked, never
// copied whole. Must not know what the tensors mean.
#pragma once
#include "dialects/transformer/Encoding.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>
#include <vector>

namespace mille {

struct StoredTensor {
  std::string name;
  Encoding type;
  std::vector<int64_t> shape; // outermost first
  llvm::ArrayRef<char> bytes; // row-major, little-endian, maybe unaligned

  int64_t elements() const;
  // Element `first + i` as double, for i < into.size(). Of blocks: the f32
  // numbers that they stand for.
  void read(int64_t first, llvm::MutableArrayRef<double> into) const;
  // The same rounded once to f32; f32 is copied.
  void read(int64_t first, llvm::MutableArrayRef<float> into) const;
};

// One mapped file. Its tensors' bytes live as long as it.
class TensorFile {
public:
  virtual ~TensorFile() = default;
  // Safetensors or GGUF, by the first bytes. Null after an error on `path`.
  static std::unique_ptr<TensorFile> open(llvm::StringRef path,
                                          mlir::MLIRContext &context);
  // The bytes of a regular file; null after an error on `path`.
  static std::unique_ptr<llvm::MemoryBuffer> map(llvm::StringRef path,
                                                 mlir::MLIRContext &context);

  const StoredTensor *find(llvm::StringRef name) const;
  llvm::ArrayRef<StoredTensor> tensors() const { return all; } // file order
  llvm::StringRef path() const { return filePath; }
  // What the file's maker noted under a name; "" where there is none.
  virtual llvm::StringRef note(llvm::StringRef) const { return ""; }

protected:
  TensorFile(llvm::StringRef path, std::unique_ptr<llvm::MemoryBuffer> bytes,
             std::vector<StoredTensor> tensors);

private:
  std::string filePath;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::vector<StoredTensor> all;
  llvm::StringMap<size_t> byName;
};

} // namespace mille

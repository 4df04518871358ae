// The interface to files of tensors of any format, which are mapped and
// checked. Must not know what the tensors mean, nor copy a whole file.
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
  llvm::ArrayRef<char> bytes; // row-major, little-endian, of any alignment

  int64_t elements() const;
  // Reads the elements `first + i`, i < into.size(), as double. Blocks decode
  // to f32 numbers.
  void read(int64_t first, llvm::MutableArrayRef<double> into) const;
  // The same rounded once to f32; f32 is copied.
  void read(int64_t first, llvm::MutableArrayRef<float> into) const;
};

// A mapped file. Its tensors' bytes live as long as this object.
class TensorFile {
public:
  virtual ~TensorFile() = default;
  // Opens safetensors or GGUF, judged by the first bytes. Null after an error
  // on `path`.
  static std::unique_ptr<TensorFile> open(llvm::StringRef path,
                                          mlir::MLIRContext &context);
  // The bytes of a regular file; null after an error on `path`.
  static std::unique_ptr<llvm::MemoryBuffer> map(llvm::StringRef path,
                                                 mlir::MLIRContext &context);

  const StoredTensor *find(llvm::StringRef name) const;
  llvm::ArrayRef<StoredTensor> tensors() const { return all; } // file order
  llvm::StringRef path() const { return filePath; }
  // A note that the file's writer left under a name; "" if there is none.
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

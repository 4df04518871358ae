// Reads and writes safetensors files: mapped, checked, never copied whole.
// Must not know what the tensors mean.
#pragma once
#include "compiler/Status.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mille {

enum class ElementType { f64, f32, f16, bf16, i64, i32, i16, i8, u8, boolean };

llvm::StringRef nameOf(ElementType type); // "F32", as the format spells it
int64_t bytesOf(ElementType type);
std::optional<ElementType> elementTypeNamed(llvm::StringRef name);

struct StoredTensor {
  std::string name;
  ElementType type;
  std::vector<int64_t> shape;
  llvm::ArrayRef<char> bytes; // row-major, little-endian, maybe unaligned

  int64_t elements() const;
  // Element `first + i` as double, for i < into.size().
  void read(int64_t first, llvm::MutableArrayRef<double> into) const;
  // The same rounded once to f32; f32 is copied.
  void read(int64_t first, llvm::MutableArrayRef<float> into) const;
};

// One mapped file. Its tensors' bytes live as long as it.
class Safetensors {
public:
  // Null after an error on `path` (a missing file, every malformed header:
  // sizes, offsets that overlap or leave gaps, duplicate names, depth).
  static std::unique_ptr<Safetensors> open(llvm::StringRef path,
                                           mlir::MLIRContext &context);
  const StoredTensor *find(llvm::StringRef name) const;
  llvm::ArrayRef<StoredTensor> tensors() const { return all; } // file order
  llvm::StringRef path() const { return filePath; }
  // Of the file's __metadata__; "" where there is none of the name.
  llvm::StringRef note(llvm::StringRef key) const;

private:
  std::string filePath;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::vector<StoredTensor> all;
  llvm::StringMap<size_t> byName;
  llvm::StringMap<std::string> notes;
};

// Writes the file whole or not at all (temporary beside it, then rename).
Status writeSafetensors(llvm::StringRef path,
                        llvm::ArrayRef<StoredTensor> tensors,
                        mlir::MLIRContext &context);

// Of an f32 tensor that is made while it is written.
struct ComputedTensor {
  std::string name;
  std::vector<int64_t> shape;
  // Hands over its numbers in order, in one piece or several; false after an
  // error, which it has told.
  std::function<bool(llvm::function_ref<void(llvm::ArrayRef<float>)>)> numbers;
};

// The same for these, one after the other, with `notes` as __metadata__.
Status
writeSafetensors(llvm::StringRef path, llvm::ArrayRef<ComputedTensor> tensors,
                 llvm::ArrayRef<std::pair<std::string, std::string>> notes,
                 mlir::MLIRContext &context);

} // namespace mille

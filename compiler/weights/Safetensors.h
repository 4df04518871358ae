// Reads and writes safetensors files: mapped, checked, never copied whole.
// Must not know what the tensors mean.
#pragma once
#include "compiler/Status.h"
#include "compiler/weights/TensorFile.h"
#include "mlir/IR/Diagnostics.h"

#include <functional>

namespace mille {

// A safetensors file.
class Safetensors : public TensorFile {
public:
  // Null after an error on `path` (a missing file, every malformed header:
  // sizes, offsets that overlap or leave gaps, duplicate names, depth).
  static std::unique_ptr<Safetensors> open(llvm::StringRef path,
                                           mlir::MLIRContext &context);
  static std::unique_ptr<Safetensors>
  read(llvm::StringRef path, std::unique_ptr<llvm::MemoryBuffer> bytes,
       mlir::MLIRContext &context);
  // Of the file's __metadata__.
  llvm::StringRef note(llvm::StringRef key) const override;

private:
  using TensorFile::TensorFile;
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

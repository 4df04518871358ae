// Reads safetensors files (mapped and checked) and writes them. Must not know
// what the tensors mean, nor copy a whole file.
#pragma once
#include "compiler/Status.h"
#include "compiler/weights/TensorFile.h"
#include "mlir/IR/Diagnostics.h"

#include <functional>

namespace mille {

// A safetensors file.
class Safetensors : public TensorFile {
public:
  // Null after an error on `path`: a missing file, or a malformed header (wrong
  // sizes, offsets that overlap or leave gaps, duplicate names, deep nesting).
  static std::unique_ptr<Safetensors> open(llvm::StringRef path,
                                           mlir::MLIRContext &context);
  static std::unique_ptr<Safetensors>
  read(llvm::StringRef path, std::unique_ptr<llvm::MemoryBuffer> bytes,
       mlir::MLIRContext &context);
  // An entry of the file's __metadata__.
  llvm::StringRef note(llvm::StringRef key) const override;

private:
  using TensorFile::TensorFile;
  llvm::StringMap<std::string> notes;
};

// Writes the file whole or not at all: to a temporary file, which it renames.
Status writeSafetensors(llvm::StringRef path,
                        llvm::ArrayRef<StoredTensor> tensors,
                        mlir::MLIRContext &context);

// An f32 tensor whose numbers are computed while it is written.
struct ComputedTensor {
  std::string name;
  std::vector<int64_t> shape;
  // Passes its numbers on in order, in one piece or several. False after an
  // error, which it has reported.
  std::function<bool(llvm::function_ref<void(llvm::ArrayRef<float>)>)> numbers;
};

// The same for computed tensors, one after the other, with `notes` as
// __metadata__.
Status
writeSafetensors(llvm::StringRef path, llvm::ArrayRef<ComputedTensor> tensors,
                 llvm::ArrayRef<std::pair<std::string, std::string>> notes,
                 mlir::MLIRContext &context);

} // namespace mille

// Reads the header of a GGUF file. Must be used by Gguf.cpp only.
#pragma once
#include "compiler/weights/Gguf.h"
#include "mlir/IR/Diagnostics.h"

namespace mille {

// The bytes of one value; 0 for texts and arrays.
uint64_t bytesOf(GgufType type);

class GgufHeader {
public:
  GgufHeader(llvm::StringRef path, llvm::StringRef bytes,
             mlir::MLIRContext &context)
      : at(mlir::FileLineColLoc::get(&context, path, 0, 0)), bytes(bytes) {}

  // False after an error.
  bool read(std::vector<GgufKey> &keys, std::vector<StoredTensor> &tensors);

private:
  struct Place {
    uint64_t begin, end;
    const StoredTensor *tensor;
  };
  mlir::InFlightDiagnostic error() { return mlir::emitError(at); }
  // Checks that the file has the next bytes; `what` names them in the error.
  bool have(uint64_t size, const llvm::Twine &what);
  template <typename Number> bool take(Number &number, const llvm::Twine &what);
  bool takeText(llvm::StringRef &text, uint64_t most, const llvm::Twine &what);
  bool takeCounts(uint64_t &tensors, uint64_t &keys);
  bool takeKey(GgufKey &key, uint64_t number);
  bool takeValue(GgufKey &key);
  bool takeArray(GgufKey &key);
  bool takeAlignment(llvm::ArrayRef<GgufKey> keys);
  bool takeTensor(StoredTensor &tensor, uint64_t &offset, uint64_t number);
  bool takeShape(StoredTensor &tensor);
  bool takeType(StoredTensor &tensor, uint64_t &size);
  bool place(std::vector<StoredTensor> &tensors,
             llvm::ArrayRef<uint64_t> offsets, uint64_t begin);
  bool apart(llvm::ArrayRef<Place> places, uint64_t size);

  mlir::Location at;
  llvm::StringRef bytes;
  uint64_t next = 0;
  uint64_t alignment = 32;
};

} // namespace mille

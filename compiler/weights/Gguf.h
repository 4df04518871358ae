// A GGUF file: keys with values, then tensors. Lengths and offsets are checked
// before they are believed; arrays of a vocabulary's size stay in the file.
#pragma once
#include "compiler/weights/TensorFile.h"

#include <optional>

namespace mille {

// As the file counts them.
enum class GgufType : uint32_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  boolean,
  text,
  array,
  u64,
  i64,
  f64
};

// A key and where its value lies in the mapped file, checked.
struct GgufKey {
  llvm::StringRef name;
  GgufType type;
  GgufType entries = GgufType::u8; // of an array
  uint64_t count = 1;              // of an array
  const char *at = nullptr;
};

// A name or text as a message can hold it: short, its control bytes as \1B.
std::string escaped(llvm::StringRef text);

class Gguf : public TensorFile {
public:
  // Null after an error on `path`.
  static std::unique_ptr<Gguf> open(llvm::StringRef path,
                                    mlir::MLIRContext &context);
  static std::unique_ptr<Gguf> read(llvm::StringRef path,
                                    std::unique_ptr<llvm::MemoryBuffer> bytes,
                                    mlir::MLIRContext &context);

  llvm::ArrayRef<GgufKey> keys() const { return all; } // file order
  const GgufKey *key(llvm::StringRef name) const;

  // Values; none where the key is absent or of another kind. Whole numbers of
  // any width are integers; a u64 beyond them is none.
  std::optional<int64_t> integer(llvm::StringRef name) const;
  std::optional<double> number(llvm::StringRef name) const;
  std::optional<bool> flag(llvm::StringRef name) const;
  std::optional<llvm::StringRef> text(llvm::StringRef name) const;

  // Entries of an array, in order; false where the key is absent or an array
  // of another kind.
  bool texts(llvm::StringRef name,
             llvm::function_ref<void(llvm::StringRef)> use) const;
  bool numbers(llvm::StringRef name,
               llvm::function_ref<void(double)> use) const;

  // A value as a message or JSON says it: an f32 with the fewest digits that
  // read back as it; an array as "an array of 3 numbers".
  std::string describe(const GgufKey &key) const;

private:
  using TensorFile::TensorFile;
  std::vector<GgufKey> all;
  llvm::StringMap<size_t> byName;
};

} // namespace mille

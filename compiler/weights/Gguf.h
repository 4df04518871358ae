// A GGUF file: keys with values, then tensors. Must check lengths and offsets
// before using them, and leave large arrays (a vocabulary) in the file.
#pragma once
#include "compiler/weights/TensorFile.h"

#include <optional>

namespace mille {

// The types of values, with the numbers that the file uses.
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

// A key and the address of its value in the mapped file, which is checked.
struct GgufKey {
  llvm::StringRef name;
  GgufType type;
  GgufType entries = GgufType::u8; // the entries' type, if it is an array
  uint64_t count = 1;              // the number of entries of an array
  const char *at = nullptr;
};

// A name or text for messages: shortened, with control bytes as \1B.
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

  // The value of a key; nothing if it is absent or of another kind. Whole
  // numbers of any width count as integers, except a u64 that is too large.
  std::optional<int64_t> integer(llvm::StringRef name) const;
  std::optional<double> number(llvm::StringRef name) const;
  std::optional<bool> flag(llvm::StringRef name) const;
  std::optional<llvm::StringRef> text(llvm::StringRef name) const;

  // Passes the entries of an array on in order; false if the key is absent or
  // of another kind.
  bool texts(llvm::StringRef name,
             llvm::function_ref<void(llvm::StringRef)> use) const;
  bool numbers(llvm::StringRef name,
               llvm::function_ref<void(double)> use) const;

  // A value as text for messages or JSON: an f32 with the fewest digits that
  // read back the same, an array as "an array of 3 numbers".
  std::string describe(const GgufKey &key) const;

private:
  using TensorFile::TensorFile;
  std::vector<GgufKey> all;
  llvm::StringMap<size_t> byName;
};

} // namespace mille

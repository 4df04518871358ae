// Shapes of a run's tensors: an extent is a number, or the name of a size of
// the run. Must not hold the sizes' numbers.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mille {

// The sizes that rooms after import know by name. A model may have others.
namespace sizes {
constexpr llvm::StringLiteral batch = "batch"; // sequences of a run
constexpr llvm::StringLiteral tokens = "tokens";
constexpr llvm::StringLiteral decoderTokens = "decoder_tokens";
constexpr llvm::StringLiteral context = "context"; // tokens that states hold
constexpr llvm::StringLiteral height = "height";   // of images
constexpr llvm::StringLiteral width = "width";
// Tokens of an encoder whose keys and values states hold for the decoder.
constexpr llvm::StringLiteral source = "source";
} // namespace sizes

struct ShapeExtent {
  std::string size;  // the size's name; "": the extent is a number
  int64_t count = 0; // the number, without a size

  ShapeExtent(int64_t count) : count(count) {}
  ShapeExtent(llvm::StringRef size) : size(size.str()) {}

  bool isSize() const { return !size.empty(); }
  bool operator==(const ShapeExtent &other) const {
    return size == other.size && count == other.count;
  }
  bool operator!=(const ShapeExtent &other) const { return !(*this == other); }
  // "tokens", "768"
  std::string text() const { return isSize() ? size : std::to_string(count); }
};

using Shape = llvm::SmallVector<ShapeExtent, 4>;

// "[batch, tokens, 768]"
std::string extentsText(llvm::ArrayRef<ShapeExtent> shape);

// "[2, ?, 8]": an extent that is not known is "?".
std::string shapeText(llvm::ArrayRef<int64_t> shape);
std::string extentText(int64_t extent);

} // namespace mille

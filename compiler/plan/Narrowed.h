// The types that --dtype asks matmuls to read. Must not decide for a single
// matmul.
#pragma once
#include "dialects/transformer/Encoding.h"

#include <optional>

namespace mille::plan {

// The types that matmuls read.
struct Narrowed {
  bool bytes = false;
  bool blocks = false; // weights in blocks; neither bytes nor blocks: bf16
  std::optional<Encoding> encoding; // of the blocks; none: as stored
};

inline std::optional<Narrowed> narrowedBy(llvm::StringRef dtype) {
  if (dtype == "bf16")
    return Narrowed();
  if (dtype == "int8")
    return Narrowed{true, false, std::nullopt};
  if (dtype == "stored")
    return Narrowed{false, true, std::nullopt};
  auto encoding = transformer::symbolizeEncoding(dtype);
  if (!encoding || !isMultiplied(*encoding))
    return std::nullopt;
  return Narrowed{false, true, encoding};
}

} // namespace mille::plan

// Why a rewrite does not pay, in numbers. Must not hold a measured time: a
// compile gives the same text on every machine.
#pragma once
#include "dialects/transformer/Transformer.h"

#include <string>

namespace mille::rewrite {

// What there is of `what` as the model is, and after the rewrite: never less.
struct Cost {
  llvm::StringRef why, what;
  int64_t kept = 0, rewritten = 0;

  explicit operator bool() const { return !why.empty(); }
  std::string inWords() const {
    return (why + ": " + what + " " + llvm::Twine(kept) + ", rewritten " +
            llvm::Twine(rewritten))
        .str();
  }
};

} // namespace mille::rewrite

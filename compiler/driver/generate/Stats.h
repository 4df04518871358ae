// What --stats says of an answer.
#pragma once
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

namespace mille {

inline double secondsNow() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Stats {
  size_t prompt = 0, tokens = 0; // tokens: those generated after the prompt
  double promptSeconds = 0, seconds = 0;

  void print(llvm::raw_ostream &out) const {
    out << "prompt " << prompt << " tokens, "
        << llvm::format("%.1f", prompt / promptSeconds) << " a second; "
        << tokens << " more";
    if (tokens)
      out << ", " << llvm::format("%.1f", tokens / seconds) << " a second";
    out << '\n';
  }
};

} // namespace mille

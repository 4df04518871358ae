// What the making of a generation needs in more than one place.
#pragma once
#include "generation/Generation.h"

#include <stdlib.h>

namespace mille::generation {

inline bool multiplied(uint64_t a, uint64_t b, size_t &product) {
  return !__builtin_mul_overflow(a, b, &product);
}

// Allocates zeros of the generation; null if the memory is refused.
template <typename T>
T *zeros(mille_generation &made, uint64_t count, uint64_t each = 1) {
  size_t all, bytes;
  if (!multiplied(count, each, all) || !multiplied(all, sizeof(T), bytes))
    return nullptr;
  made.ownBytes += bytes;
  return static_cast<T *>(calloc(all ? all : 1, sizeof(T)));
}

// A status of the package, with its message.
inline Status packageSays(mille_generation &made, Status status) {
  return status ? made.say(status, "%s",
                           made.runtime.package_message(made.package))
                : status;
}

// Finds the entries that generate, with their inputs and outputs, and the
// options that follow from them.
Status findEntries(mille_generation &made);

} // namespace mille::generation

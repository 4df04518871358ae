// Memory through the application's hook, sizes that cannot overflow, and the
// sentence of an error. Must not be called during a run.
#pragma once
#include "runtime/mille.h"

namespace mille {
struct Place {};
} // namespace mille
inline void *operator new(size_t, mille::Place, void *memory) noexcept {
  return memory;
}

namespace mille {

struct Memory {
  void *(*allocate)(void *user, size_t size, size_t alignment);
  void (*release)(void *user, void *memory);
  void *user;
  static Memory from(const mille_options &options);

  // Zeros, on lines of 64 bytes, and large pages where they fill some; null
  // where refused. The system's pages are zeros, and come when they are used.
  char *zeros(uint64_t size) const;
  void releaseZeros(char *zeros, uint64_t size) const;

  // A T at its start values, 64-byte aligned; null where refused.
  template <typename T> T *make() const {
    void *memory = allocate(user, sizeof(T), 64);
    return memory ? new (Place(), memory) T() : nullptr;
  }
};

// A sum of sizes; `fits` turns false for good once one is too large.
struct Bytes {
  uint64_t value = 0;
  bool fits = true;

  Bytes &add(uint64_t more);
  // Adds count * size, rounded up to 64; returns where that begins.
  uint64_t place(uint64_t count, uint64_t size);
};
// The memory of the machine, all of it; to say so where some was refused.
uint64_t machineBytes();
bool multiply(uint64_t left, uint64_t right, uint64_t &product);

constexpr size_t messageBytes = 512;
struct Message {
  char text[messageBytes] = "";
  __attribute__((format(printf, 3, 4))) mille_status set(mille_status status,
                                                         const char *format,
                                                         ...);
};

} // namespace mille

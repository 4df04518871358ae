// Atomic values without the C++ library.
// Must not be used for more than the builtins give.
#pragma once
#include <stdint.h>

namespace mille {

template <typename T> class Atomic {
public:
  T load() const { return __atomic_load_n(&value, __ATOMIC_SEQ_CST); }
  T acquire() const { return __atomic_load_n(&value, __ATOMIC_ACQUIRE); }
  T relaxed() const { return __atomic_load_n(&value, __ATOMIC_RELAXED); }
  void store(T next) { __atomic_store_n(&value, next, __ATOMIC_SEQ_CST); }
  void release(T next) { __atomic_store_n(&value, next, __ATOMIC_RELEASE); }
  void set(T next) { __atomic_store_n(&value, next, __ATOMIC_RELAXED); }
  // Returns the value before.
  T add(T more) { return __atomic_fetch_add(&value, more, __ATOMIC_SEQ_CST); }
  // True for the one caller that turns `from` into `to`.
  bool change(T from, T to) {
    return __atomic_compare_exchange_n(&value, &from, to, false,
                                       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  }
  T *address() { return &value; }

private:
  T value = 0;
};

} // namespace mille

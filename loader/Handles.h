// The loader's handles: each holds a package or session of the library's own
// runtime, and the library. Must not know a package's files.
#pragma once
#include "loader/Library.h"
#include "runtime/Atomic.h"

namespace mille {

// A library that is unloaded with its last package or session.
struct SharedLibrary : Library {
  Atomic<uint32_t> owners;

  void enter() { owners.add(1); }
  void leave();
};

// Allocates a handle. If the C library refuses the memory, handleMessage() says
// so in this thread until the thread's next call of handleMemory.
void *handleMemory(size_t size);
const char *handleMessage(); // "": none was refused

} // namespace mille

struct mille_package {
  mille::SharedLibrary *library;
  mille_package *inner; // of the library's runtime: another struct of that name

  const mille::LibraryFunctions &functions() const {
    return library->functions();
  }
};

struct mille_session {
  mille::SharedLibrary *library;
  mille_session *inner;

  const mille::LibraryFunctions &functions() const {
    return library->functions();
  }
};

struct mille_trainer {
  mille::SharedLibrary *library;
  mille_trainer *inner;

  const mille::LibraryFunctions &functions() const {
    return library->functions();
  }
};

// Calls the function of the handle's own runtime.
#define MILLE_FORWARD(handle, function, ...)                                   \
  ((handle) ? (handle)->functions().function((handle)->inner, ##__VA_ARGS__)   \
            : MILLE_INVALID_ARGUMENT)

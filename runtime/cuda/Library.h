// The functions of the CUDA driver, found by name at run time.
// Must not link with the driver: Mille also runs on machines without it.
#pragma once
#include "runtime/Memory.h"
#include "runtime/cuda/Driver.h"

namespace mille::cuda {

struct Library {
  void *functionsBegin = nullptr; // before them, for `load`
#define DECLARE(name, symbol, parameters) CUresult(*name) parameters = nullptr;
  MILLE_CUDA_FUNCTIONS(DECLARE)
#undef DECLARE
  int version = 0; // of CUDA that the driver supports: 13000 is 13.0

  // Whether a kernel may start before the kernels that it waits for end, in
  // graphs too.
  bool overlapsKernels() const { return version >= 12030; }

  // Loads $MILLE_CUDA_LIBRARY, or the system's driver, and starts it. It is
  // never unloaded, since drivers leave threads running.
  mille_status load(Message &message);
  // "CUDA_ERROR_OUT_OF_MEMORY", or "error 999" for a code without a name.
  struct Name {
    char text[64];
  };
  Name nameOf(CUresult code) const;
};

} // namespace mille::cuda

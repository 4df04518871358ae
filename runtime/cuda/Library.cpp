// Finds the driver's functions by dlopen.
#include "runtime/cuda/Library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

namespace mille::cuda {

// Tensor maps and clusters came with CUDA 12.0, whose PTX kernels have.
constexpr int leastVersion = 12000;

mille_status Library::load(Message &message) {
  const char *own = getenv("MILLE_CUDA_LIBRARY");
  const char *name = own && *own ? own : "libcuda.so.1";
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return message.set(MILLE_NO_DEVICE,
                       "no CUDA driver: %s cannot be loaded; install NVIDIA's "
                       "driver",
                       name);
  // An old driver lacks functions, so its version is asked first.
  cuDriverGetVersion = reinterpret_cast<CUresult (*)(int *)>(
      dlsym(library, "cuDriverGetVersion"));
  if (cuDriverGetVersion && cuDriverGetVersion(&version) == CUDA_SUCCESS &&
      version < leastVersion)
    return message.set(MILLE_NO_DEVICE,
                       "the CUDA driver %s is for CUDA %d.%d but %d.%d is "
                       "needed; install a newer driver",
                       name, version / 1000, version % 1000 / 10,
                       leastVersion / 1000, leastVersion % 1000 / 10);
#define FIND(function, symbol, parameters)                                     \
  function =                                                                   \
      reinterpret_cast<CUresult(*) parameters>(dlsym(library, #symbol));       \
  if (!function)                                                               \
    return message.set(MILLE_NO_DEVICE,                                        \
                       "the CUDA driver %s has no function %s: CUDA 12.0 or "  \
                       "later is needed",                                      \
                       name, #symbol);
  MILLE_CUDA_FUNCTIONS(FIND)
#undef FIND
  CUresult error = cuInit(0);
  if (error == CUDA_SUCCESS)
    return MILLE_OK;
  return message.set(MILLE_NO_DEVICE, "no CUDA device: the driver answers %s",
                     nameOf(error).text);
}

Library::Name Library::nameOf(CUresult code) const {
  Name name;
  const char *known = nullptr;
  if (cuGetErrorName(code, &known) == CUDA_SUCCESS && known)
    snprintf(name.text, sizeof name.text, "%s", known);
  else
    snprintf(name.text, sizeof name.text, "error %d", code);
  return name;
}

} // namespace mille::cuda

// Finds the driver's functions by dlopen.
#include "runtime/cuda/Library.h"
#include "runtime/NamedFunctions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace mille::cuda {

// Tensor maps and clusters came with CUDA 12.0, whose PTX kernels have.
constexpr int leastVersion = 12000;

#define NAME(function, symbol, parameters) #symbol "\0"
static const char names[] = MILLE_CUDA_FUNCTIONS(NAME);
#undef NAME

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
  auto ask = (CUresult (*)(int *))dlsym(library, "cuDriverGetVersion");
  if (ask && ask(&version) == CUDA_SUCCESS && version < leastVersion)
    return message.set(MILLE_NO_DEVICE,
                       "the CUDA driver %s is for CUDA %d.%d but %d.%d is "
                       "needed; install a newer driver",
                       name, version / 1000, version % 1000 / 10,
                       leastVersion / 1000, leastVersion % 1000 / 10);
  if (const char *missing =
          findFunctions(library, names, (void **)&functionsBegin + 1))
    return message.set(MILLE_NO_DEVICE,
                       "the CUDA driver %s has no function %s: CUDA 12.0 or "
                       "later is needed",
                       name, missing);
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

/* The back ends of this runtime, by name: kinds of devices. A model's code
 * names those that it was compiled for, mille_NAME_backend. Must stay plain
 * C. */
#ifndef MILLE_BACKENDS_H
#define MILLE_BACKENDS_H
#include "runtime/abi.h"

#define MILLE_BACKENDS(each) each(opencl) each(cuda)

#ifdef __cplusplus
extern "C" {
#endif
#define MILLE_DECLARE_BACKEND(name)                                            \
  extern __attribute__((visibility("default")))                                \
  const mille_backend mille_##name##_backend;
MILLE_BACKENDS(MILLE_DECLARE_BACKEND)
#undef MILLE_DECLARE_BACKEND
#ifdef __cplusplus
}
#endif
#endif

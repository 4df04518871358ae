/* The fake driver as tests meet it (FakeCuda.h): told to fail, and asked what
 * it counted. */
#ifndef FAKE_CUDA_DRIVER_H
#define FAKE_CUDA_DRIVER_H

#include "FakeCuda.h"
#include "FakeModel.h"

#include <dlfcn.h>
#include <stdlib.h>

/* What the driver of $MILLE_CUDA_LIBRARY counted. */
static inline fake_cuda_counts *counts(void) {
  static fake_cuda_counts *(*function)(void);
  if (!function) {
    void *library = dlopen(getenv("MILLE_CUDA_LIBRARY"), RTLD_NOW);
    CHECK(library);
    *(void **)&function = dlsym(library, "fake_cuda");
    CHECK(function);
  }
  return function();
}

/* Changes the driver, as FakeCuda.cpp says; "": it is as usual. */
static inline void fake(const char *wish) {
  CHECK(setenv("FAKE_CUDA", wish, 1) == 0);
}

static inline void nothingLeft(void) {
  const fake_cuda_counts *now = counts();
  CHECK(!now->device_pieces && !now->pinned_pieces && !now->contexts);
  CHECK(!now->pushed && !now->modules && !now->streams && !now->events);
  CHECK(!now->graphs && !now->live_instances);
}
#endif

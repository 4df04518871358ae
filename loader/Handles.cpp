// Allocates the loader's handles, and unloads a library with its last owner.
#include "loader/Handles.h"

#include <stdlib.h>

static thread_local bool isRefused;

void *mille::handleMemory(size_t size) {
  void *memory = calloc(1, size);
  isRefused = !memory;
  return memory;
}

const char *mille::handleMessage() {
  return isRefused ? "memory for a handle of the loader was refused" : "";
}

void mille::SharedLibrary::leave() {
  if (owners.add(uint32_t(-1)) != 1)
    return;
  unload();
  free(this);
}

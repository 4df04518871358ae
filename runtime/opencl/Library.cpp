// Finds OpenCL's functions by dlopen, and names its error codes.
// Must not call any of them.
#include "runtime/opencl/Library.h"
#include "runtime/NamedFunctions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace mille::opencl {

#define NAME(name) #name "\0"
static const char names[] = MILLE_OPENCL_FUNCTIONS(NAME);
#undef NAME

mille_status Library::load(Message &message) {
  const char *own = getenv("MILLE_OPENCL_LIBRARY");
  const char *files[] = {own ? own : "libOpenCL.so.1", "libOpenCL.so"};
  void *library = dlopen(files[0], RTLD_NOW | RTLD_LOCAL);
  if (!library && !own)
    library = dlopen(files[1], RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return message.set(MILLE_NO_DEVICE,
                       "no OpenCL library: %s cannot be loaded; install the "
                       "device's driver and an OpenCL loader",
                       files[0]);
  if (const char *missing =
          findFunctions(library, names, (void **)&functionsBegin + 1))
    return message.set(MILLE_NO_DEVICE,
                       "the OpenCL library %s has no function %s: OpenCL 1.2 "
                       "is needed",
                       files[0], missing);
  return MILLE_OK;
}

#define CODES(X)                                                               \
  X(CL_DEVICE_NOT_FOUND)                                                       \
  X(CL_DEVICE_NOT_AVAILABLE)                                                   \
  X(CL_COMPILER_NOT_AVAILABLE)                                                 \
  X(CL_MEM_OBJECT_ALLOCATION_FAILURE)                                          \
  X(CL_OUT_OF_RESOURCES)                                                       \
  X(CL_OUT_OF_HOST_MEMORY)                                                     \
  X(CL_BUILD_PROGRAM_FAILURE)                                                  \
  X(CL_INVALID_VALUE)                                                          \
  X(CL_INVALID_BUFFER_SIZE)                                                    \
  X(CL_INVALID_BINARY)                                                         \
  X(CL_INVALID_KERNEL_NAME)                                                    \
  X(CL_INVALID_KERNEL_ARGS)                                                    \
  X(CL_INVALID_ARG_SIZE)                                                       \
  X(CL_INVALID_WORK_GROUP_SIZE)                                                \
  X(CL_INVALID_WORK_ITEM_SIZE)                                                 \
  X(CL_INVALID_GLOBAL_WORK_SIZE)                                               \
  X(CL_INVALID_MEM_OBJECT)                                                     \
  X(CL_INVALID_COMMAND_QUEUE)                                                  \
  X(CL_INVALID_CONTEXT)                                                        \
  X(CL_INVALID_DEVICE)

ErrorName::ErrorName(cl_int code) {
  const char *name = nullptr;
  switch (code) {
#define NAME(code)                                                             \
  case code:                                                                   \
    name = #code;                                                              \
    break;
    CODES(NAME)
#undef NAME
  case -1001: // CL_PLATFORM_NOT_FOUND_KHR, from an extension of the loader
    name = "no driver is installed";
    break;
  }
  if (name)
    snprintf(text, sizeof text, "%s", name);
  else
    snprintf(text, sizeof text, "error %d", (int)code);
}

} // namespace mille::opencl

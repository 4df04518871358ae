// The functions of the machine's OpenCL library, found by name at run time.
// Must not link with that library: Mille also runs on machines without it.
#pragma once
#define CL_TARGET_OPENCL_VERSION 120
#include "runtime/Memory.h"

#include <CL/cl.h>

namespace mille::opencl {

#define MILLE_OPENCL_FUNCTIONS(X)                                              \
  X(clGetPlatformIDs)                                                          \
  X(clGetPlatformInfo)                                                         \
  X(clGetDeviceIDs)                                                            \
  X(clGetDeviceInfo)                                                           \
  X(clCreateContext)                                                           \
  X(clReleaseContext)                                                          \
  X(clCreateCommandQueue)                                                      \
  X(clReleaseCommandQueue)                                                     \
  X(clCreateBuffer)                                                            \
  X(clReleaseMemObject)                                                        \
  X(clCreateProgramWithSource)                                                 \
  X(clCreateProgramWithBinary)                                                 \
  X(clBuildProgram)                                                            \
  X(clGetProgramInfo)                                                          \
  X(clGetProgramBuildInfo)                                                     \
  X(clReleaseProgram)                                                          \
  X(clCreateKernel)                                                            \
  X(clReleaseKernel)                                                           \
  X(clSetKernelArg)                                                            \
  X(clEnqueueNDRangeKernel)                                                    \
  X(clEnqueueReadBuffer)                                                       \
  X(clEnqueueWriteBuffer)                                                      \
  X(clEnqueueReadBufferRect)                                                   \
  X(clEnqueueCopyBuffer)                                                       \
  X(clEnqueueFillBuffer)                                                       \
  X(clFlush)                                                                   \
  X(clFinish)                                                                  \
  X(clWaitForEvents)                                                           \
  X(clGetEventProfilingInfo)                                                   \
  X(clReleaseEvent)

struct Library {
  void *functionsBegin = nullptr; // before them, for `load`
#define DECLARE(name) decltype(&::name) name = nullptr;
  MILLE_OPENCL_FUNCTIONS(DECLARE)
#undef DECLARE

  // Loads $MILLE_OPENCL_LIBRARY, or the system's OpenCL loader. It is never
  // unloaded, since drivers leave threads running.
  mille_status load(Message &message);
};

// The name of a code, such as "CL_OUT_OF_RESOURCES", or else "error -9999".
struct ErrorName {
  explicit ErrorName(cl_int code);
  char text[48];
};

} // namespace mille::opencl

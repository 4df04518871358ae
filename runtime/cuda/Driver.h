// The part of the CUDA driver's interface that Mille calls, declared here so
// that neither a build nor a run needs a CUDA toolkit. Facts about the driver's
// binary interface only; CudaDriver.cpp of the tests compares them with cuda.h
// where a machine has it.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace mille::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphExec = struct CUgraphExec_st *;

struct alignas(64) CUtensorMap {
  uint64_t words[16];
};

struct CUDA_MEMCPY2D {
  size_t srcXInBytes, srcY;
  int srcMemoryType;
  const void *srcHost;
  CUdeviceptr srcDevice;
  void *srcArray;
  size_t srcPitch;
  size_t dstXInBytes, dstY;
  int dstMemoryType;
  void *dstHost;
  CUdeviceptr dstDevice;
  void *dstArray;
  size_t dstPitch;
  size_t WidthInBytes, Height;
};

struct CUlaunchAttribute {
  int id, reserved;
  alignas(8) int value[16]; // the first, of an attribute that is a switch
};

struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute *attrs;
  unsigned numAttrs;
};

enum : int {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_NOT_FOUND = 500,

  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,

  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
  CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,

  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,

  CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,

  CU_MEMORYTYPE_HOST = 1,
  CU_MEMORYTYPE_DEVICE = 2,
  CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
  CU_STREAM_NON_BLOCKING = 1,
  CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,

  CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT32 = 7,
  CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9,
  CU_TENSOR_MAP_SWIZZLE_128B = 3,
  CU_TENSOR_MAP_L2_PROMOTION_L2_256B = 3
};

// X(the name, the symbol in the driver, its parameters)
#define MILLE_CUDA_FUNCTIONS(X)                                                \
  X(cuInit, cuInit, (unsigned))                                                \
  X(cuDriverGetVersion, cuDriverGetVersion, (int *))                           \
  X(cuGetErrorName, cuGetErrorName, (CUresult, const char **))                 \
  X(cuDeviceGetCount, cuDeviceGetCount, (int *))                               \
  X(cuDeviceGet, cuDeviceGet, (CUdevice *, int))                               \
  X(cuDeviceGetName, cuDeviceGetName, (char *, int, CUdevice))                 \
  X(cuDeviceGetAttribute, cuDeviceGetAttribute, (int *, int, CUdevice))        \
  X(cuDeviceTotalMem, cuDeviceTotalMem_v2, (size_t *, CUdevice))               \
  X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain,                        \
    (CUcontext *, CUdevice))                                                   \
  X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice))       \
  X(cuCtxPushCurrent, cuCtxPushCurrent_v2, (CUcontext))                        \
  X(cuCtxPopCurrent, cuCtxPopCurrent_v2, (CUcontext *))                        \
  X(cuMemGetInfo, cuMemGetInfo_v2, (size_t *, size_t *))                       \
  X(cuMemAlloc, cuMemAlloc_v2, (CUdeviceptr *, size_t))                        \
  X(cuMemFree, cuMemFree_v2, (CUdeviceptr))                                    \
  X(cuMemHostAlloc, cuMemHostAlloc, (void **, size_t, unsigned))               \
  X(cuMemFreeHost, cuMemFreeHost, (void *))                                    \
  X(cuMemcpyHtoD, cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t))        \
  X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                   \
    (CUdeviceptr, const void *, size_t, CUstream))                             \
  X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                   \
    (void *, CUdeviceptr, size_t, CUstream))                                   \
  X(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2,                                   \
    (CUdeviceptr, CUdeviceptr, size_t, CUstream))                              \
  X(cuPointerGetAttributes, cuPointerGetAttributes,                            \
    (unsigned, int *, void **, CUdeviceptr))                                   \
  X(cuMemcpy2DAsync, cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *, CUstream))    \
  X(cuMemsetD8Async, cuMemsetD8Async,                                          \
    (CUdeviceptr, unsigned char, size_t, CUstream))                            \
  X(cuModuleLoadDataEx, cuModuleLoadDataEx,                                    \
    (CUmodule *, const void *, unsigned, int *, void **))                      \
  X(cuModuleUnload, cuModuleUnload, (CUmodule))                                \
  X(cuModuleGetFunction, cuModuleGetFunction,                                  \
    (CUfunction *, CUmodule, const char *))                                    \
  X(cuFuncSetAttribute, cuFuncSetAttribute, (CUfunction, int, int))            \
  X(cuFuncGetAttribute, cuFuncGetAttribute, (int *, int, CUfunction))          \
  X(cuTensorMapEncodeTiled, cuTensorMapEncodeTiled,                            \
    (CUtensorMap *, int, uint32_t, void *, const uint64_t *, const uint64_t *, \
     const uint32_t *, const uint32_t *, int, int, int, int))                  \
  X(cuLaunchKernel, cuLaunchKernel,                                            \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,   \
     unsigned, CUstream, void **, void **))                                    \
  X(cuLaunchKernelEx, cuLaunchKernelEx,                                        \
    (const CUlaunchConfig *, CUfunction, void **, void **))                    \
  X(cuStreamCreate, cuStreamCreate, (CUstream *, unsigned))                    \
  X(cuStreamDestroy, cuStreamDestroy_v2, (CUstream))                           \
  X(cuStreamSynchronize, cuStreamSynchronize, (CUstream))                      \
  X(cuEventCreate, cuEventCreate, (CUevent *, unsigned))                       \
  X(cuEventDestroy, cuEventDestroy_v2, (CUevent))                              \
  X(cuEventRecord, cuEventRecord, (CUevent, CUstream))                         \
  X(cuEventSynchronize, cuEventSynchronize, (CUevent))                         \
  X(cuEventElapsedTime, cuEventElapsedTime, (float *, CUevent, CUevent))       \
  X(cuStreamBeginCapture, cuStreamBeginCapture_v2, (CUstream, int))            \
  X(cuStreamEndCapture, cuStreamEndCapture, (CUstream, CUgraph *))             \
  X(cuGraphInstantiate, cuGraphInstantiateWithFlags,                           \
    (CUgraphExec *, CUgraph, unsigned long long))                              \
  X(cuGraphLaunch, cuGraphLaunch, (CUgraphExec, CUstream))                     \
  X(cuGraphExecDestroy, cuGraphExecDestroy, (CUgraphExec))                     \
  X(cuGraphDestroy, cuGraphDestroy, (CUgraph))

} // namespace mille::cuda

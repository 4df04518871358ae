// runtime/cuda/Driver.h beside cuda.h, where this machine has it: sizes of
// structs, numbers, and of each function how many parameters it has and their
// sizes. Compiling is the test.
#include "runtime/cuda/Driver.h"

#include <cstddef>

#if __has_include(<cuda.h>)
#include <cuda.h>

namespace ours = mille::cuda;

static_assert(sizeof(ours::CUDA_MEMCPY2D) == sizeof(::CUDA_MEMCPY2D));
static_assert(sizeof(ours::CUtensorMap) == sizeof(::CUtensorMap));
static_assert(sizeof(ours::CUlaunchAttribute) == sizeof(::CUlaunchAttribute));
static_assert(offsetof(ours::CUlaunchAttribute, value) ==
              offsetof(::CUlaunchAttribute, value));
static_assert(sizeof(ours::CUlaunchConfig) == sizeof(::CUlaunchConfig));
static_assert(offsetof(ours::CUlaunchConfig, attrs) ==
              offsetof(::CUlaunchConfig, attrs));
static_assert(offsetof(ours::CUDA_MEMCPY2D, dstDevice) ==
              offsetof(::CUDA_MEMCPY2D, dstDevice));
static_assert(offsetof(ours::CUDA_MEMCPY2D, Height) ==
              offsetof(::CUDA_MEMCPY2D, Height));

#define SAME(name) static_assert((int)ours::name == (int)::name)
SAME(CUDA_SUCCESS);
SAME(CUDA_ERROR_INVALID_VALUE);
SAME(CUDA_ERROR_OUT_OF_MEMORY);
SAME(CUDA_ERROR_NO_DEVICE);
SAME(CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME(CUDA_ERROR_NOT_FOUND);
SAME(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
SAME(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(CU_DEVICE_ATTRIBUTE_INTEGRATED);
SAME(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
SAME(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
SAME(CU_JIT_ERROR_LOG_BUFFER);
SAME(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
SAME(CU_MEMORYTYPE_DEVICE);
SAME(CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME(CU_STREAM_NON_BLOCKING);
SAME(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
SAME(CU_TENSOR_MAP_DATA_TYPE_UINT8);
SAME(CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
SAME(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
SAME(CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
SAME(CU_TENSOR_MAP_SWIZZLE_128B);
SAME(CU_TENSOR_MAP_L2_PROMOTION_L2_256B);

template <typename... Ours> struct Sizes {
  template <typename... Theirs>
  static constexpr bool same(::CUresult (*)(Theirs...)) {
    if constexpr (sizeof...(Ours) == sizeof...(Theirs))
      return ((sizeof(Ours) == sizeof(Theirs)) && ...);
    return false;
  }
};
template <typename... Ours> Sizes<Ours...> sizesOf(int (*)(Ours...));

namespace mille::cuda {
#define FUNCTION(name, symbol, parameters)                                     \
  static_assert(                                                               \
      decltype(sizesOf((int(*) parameters) nullptr))::same(&::symbol));
MILLE_CUDA_FUNCTIONS(FUNCTION)
} // namespace mille::cuda
#endif

int main() { return 0; }

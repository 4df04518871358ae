// Makes tensor maps, and keeps those of the last run: a run of the same sizes
// needs the same maps in the same order.
#include "runtime/cuda/Device.h"

#include <string.h>

namespace mille::cuda {

static CUresult encode(const Library &cuda, const TensorKey &key,
                       CUtensorMap &map) {
  uint32_t steps[MILLE_MAX_RANK];
  for (uint32_t &step : steps)
    step = 1;
  return cuda.cuTensorMapEncodeTiled(
      &map, key.type, key.rank, (void *)key.address, key.extent, key.stride + 1,
      key.box, steps, /*interleave=*/0, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      /*outside=*/0);
}

CUresult tensorMapOf(Part &part, const TensorKey &key, CUtensorMap &map) {
  KnownTensor *known = part.tensorCount < part.tensorMost
                           ? &part.tensors[part.tensorCount++]
                           : nullptr;
  if (known && memcmp(&known->key, &key, sizeof key) == 0) {
    map = known->map;
    return CUDA_SUCCESS;
  }
  Current current(part.on()); // the driver makes maps in a context only
  const CUresult error = encode(part.cuda(), key, map);
  if (known && error == CUDA_SUCCESS)
    *known = {key, map};
  return error;
}

} // namespace mille::cuda

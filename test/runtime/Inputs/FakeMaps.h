// What a driver of CUDA without a device refuses of a tensor's map.
#ifndef FAKE_MAPS_H
#define FAKE_MAPS_H
#include "runtime/cuda/Driver.h"

namespace mille::cuda {

// 0: maps of ours have no such elements.
inline uint32_t bytesOf(int type) {
  switch (type) {
  case CU_TENSOR_MAP_DATA_TYPE_UINT8:
    return 1;
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
  case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
    return 2;
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
    return 4;
  }
  return 0;
}

// A line of a box has 128 bytes, or all of a tensor's: a kernel waits for so
// many, and a copy of fewer would let it wait for ever.
inline bool hasWholeLines(int type, uint64_t extent, uint32_t box) {
  return bytesOf(type) && (box >= extent || box * bytesOf(type) == 128);
}

} // namespace mille::cuda
#endif

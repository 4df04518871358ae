// The arena: sizes, lives and places of buffers. Must not see ops.
#pragma once
#include "dialects/kernel/RowSpace.h"

#include <deque>

namespace mille::plan {

struct Buffer {
  mlir::MemRefType type;
  kernel::RowSpace rows;      // only where the type has rows of the run
  bool fixed = false;         // no run's rows change its size
  int64_t bytes = 0;          // per padded row; of a fixed one all
  int64_t begin = 0, end = 0; // first and last step that touch it
  int64_t body = 0;           // the layer loop's body that owns it; 0: none
  int64_t offset = -1;        // as `bytes`
};

// The bytes of an arena: a fixed part, then what padded rows are multiplied by.
struct ArenaBytes {
  int64_t fixed = 0, perRow = 0;
};

// The memref of a tensor in the arena: rows padded to cache lines of 64 bytes,
// and from 16 lines on to an odd number of them.
mlir::MemRefType arenaType(mlir::RankedTensorType tensor);

// The memref of a tensor in the application's memory, which has no padding.
mlir::MemRefType exactType(mlir::RankedTensorType tensor);

// The bytes per padded row of a buffer of this type, a multiple of 64. A buffer
// of slots takes k times the bytes of a row.
int64_t bytesPerRow(mlir::MemRefType type, kernel::RowSpace rows);

// The bytes of a buffer of this type, of `rows` rows where it has rows, a
// multiple of 64.
int64_t fixedBytes(mlir::MemRefType type, int64_t rows);

// Gives every buffer its offset, in its part of the arena. The same buffers get
// the same offsets. Linear in pairs of buffers.
ArenaBytes placeBuffers(std::deque<Buffer> &buffers);

} // namespace mille::plan

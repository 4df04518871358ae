// The arena: sizes, lives and places of buffers. Sees no ops.
#pragma once
#include "dialects/kernel/RowSpace.h"

#include <deque>

namespace mille::plan {

struct Buffer {
  mlir::MemRefType type;
  kernel::RowSpace rows;      // where the type has rows
  int64_t bytes = 0;          // per padded row
  int64_t begin = 0, end = 0; // first and last step that touch it
  int64_t body = 0;           // body of a layer loop that owns it, 0: none
  int64_t offset = -1;        // bytes per padded row
};

// The memref of a tensor in the arena: rows padded to cache lines of 64 bytes,
// and from 16 lines on to an odd number of them.
mlir::MemRefType arenaType(mlir::RankedTensorType tensor);

// The same as the application's memory: exact.
mlir::MemRefType exactType(mlir::RankedTensorType tensor);

// Bytes per padded row that a buffer of this type takes: a multiple of 64.
// Slots take as many times those of a row; fixed sizes share the padded rows,
// of which every run has 16.
int64_t bytesPerRow(mlir::MemRefType type, kernel::RowSpace rows);

// Gives every buffer its offset; returns the arena's bytes per padded row. The
// same buffers get the same offsets. Linear in pairs of buffers.
int64_t placeBuffers(std::deque<Buffer> &buffers);

} // namespace mille::plan

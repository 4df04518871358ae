// What the buffers of a stage say about its rows, for launches on the CPU and
// on devices. Must not cut buffers.
#pragma once
#include "runtime/Session.h"

namespace mille {

// The row dimension of the out; -1: it has none.
inline int outRow(const mille_kernel &kernel) {
  return kernel.row_dimension[kernel.buffer_count - 1];
}

inline const mille_buffer &outOf(const mille_stage &stage) {
  return stage.buffers[stage.kernel->buffer_count - 1];
}

// The rows of the out: its last dimension where no buffer has a row dimension.
inline int64_t outRows(const mille_stage &stage) {
  const mille_buffer &out = outOf(stage);
  int row = outRow(*stage.kernel);
  return out.dimension[row < 0 ? out.dimensions - 1 : row].extent;
}

// The number of a kernel in the model's list.
inline uint32_t kernelIndex(const mille_model &model,
                            const mille_kernel *kernel) {
  uint32_t index = 0;
  while (index < model.kernel_count && model.kernels[index] != kernel)
    ++index;
  return index;
}

// The sequences of the out's rows; `tokens` are the run's.
inline Sequences sequencesOfOut(const mille_stage &stage,
                                const Sequences &tokens) {
  if (stage.token_buffers >> (stage.kernel->buffer_count - 1) & 1)
    return tokens;
  return {outRows(stage) / stage.sequence_rows, stage.sequence_rows};
}

// The sequences of the rows of buffer `b`, where the out has `batch` of them:
// keys may be more or fewer than queries.
inline Sequences sequencesIn(const mille_stage &stage, uint32_t b,
                             const Sequences &tokens, int64_t batch) {
  if (b + 1 == stage.kernel->buffer_count)
    return sequencesOfOut(stage, tokens);
  if (stage.token_buffers >> b & 1)
    return tokens;
  int row = stage.kernel->row_dimension[b];
  return {batch, stage.buffers[b].dimension[row].extent / batch};
}

} // namespace mille

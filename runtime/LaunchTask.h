// One task of a launch: its buffers, cut to its share, and the call of a
// kernel. Must not decide how a launch is cut.
#pragma once
#include "runtime/Clock.h"
#include "runtime/Partition.h"
#include "runtime/StageRows.h"

namespace mille {

constexpr int64_t readableRows = 8; // rows that follow the last in the arena

// Attention's buffers of keys and of values.
constexpr uint32_t firstHeld = 1, lastHeld = 2;

struct Job {
  mille_session *session;
  const mille_stage *stages;
  int32_t count;
  int64_t rows; // of the launch
  bool sequences;
  Split split;
  ExpertSplit experts;
  Sequences tokens; // the run's
  // The kernel may take keys apart, so that sequences of few rows are another
  // job's (LaunchParts.h).
  bool apart = false;
  // Where keys lie in windows: how many of each sequence's first ones are
  // dropped. To kernels the first one that is left is key 0.
  const int32_t *dropped = nullptr;
  // Where keys lie in panels: how many sequences further on each panel lies, so
  // many for each sequence (0: for all). Null: the kernel looks up none.
  const int32_t *shifts = nullptr;
  int64_t panels = 0, panelsApart = 0;

  int64_t droppedOf(int64_t sequence) const {
    return dropped ? dropped[sequence] : 0;
  }
};

// Whether each head multiplies columns of its own by a weight of its own.
inline bool isByHead(const mille_stage &stage) {
  return stage.entries && !stage.starts;
}

// The part of a stage's out that a task computes.
struct Share {
  int64_t sequence = 0; // or expert, or head
  Range rows, columns;
};

// Whether an expert has an entry of the out, of which a task computes a part.
inline bool isOutStacked(const mille_stage &stage) {
  return stage.starts && stage.stacked >> (stage.kernel->buffer_count - 1) & 1;
}

// The dimension of the out that column tasks cut; -1: none.
inline int outColumn(const mille_kernel &kernel) {
  if (kernel.partition == MILLE_PARTITION_SEQUENCES)
    return 2;
  return outRow(kernel) == 0 ? -1 : 0;
}

// The columns that tasks cut, of one head where each has its own.
inline int64_t outColumns(const mille_stage &stage) {
  int column = outColumn(*stage.kernel);
  return column < 0 ? 1
                    : outOf(stage).dimension[column].extent /
                          (isByHead(stage) ? stage.entries : 1);
}

// Moves the start of a buffer along a dimension; `min` is the index of the new
// start.
inline void cut(mille_buffer &buffer, int dimension, int64_t first, int64_t min,
                int64_t extent) {
  mille_dimension &d = buffer.dimension[dimension];
  int64_t bytes = buffer.type_bits / 8;
  buffer.host = (char *)buffer.host + first * d.stride * bytes;
  d.min = (int32_t)min;
  d.extent = (int32_t)extent;
}

// The part of buffer `b` that a task sees, as abi.h says.
inline void cutBuffer(const Job &job, const mille_stage &stage,
                      const Share &share, uint32_t b, mille_buffer &buffer) {
  const mille_kernel &kernel = *stage.kernel;
  uint32_t out = kernel.buffer_count - 1;
  int row = kernel.row_dimension[b];
  if (stage.entries && (stage.stacked >> b & 1)) {
    cut(buffer, buffer.dimensions - 1, share.sequence, 0, 1);
    --buffer.dimensions;
  } else if (isOutStacked(stage)) {
    const int32_t *own = stage.starts + share.sequence;
    cut(buffer, 1, own[0], 0, own[1] - own[0]);
  } else if (isByHead(stage)) { // the input, or the out
    const int64_t own = buffer.dimension[0].extent / stage.entries;
    cut(buffer, 0, share.sequence * own, 0, own);
  }
  if (row < 0)
    return;
  if (!job.sequences) {
    int64_t times = buffer.dimension[row].extent / job.rows; // slots of a row
    cut(buffer, row, share.rows.first * times, 0,
        (share.rows.end - share.rows.first) * times);
    return;
  }
  Sequences own = sequencesIn(stage, b, job.tokens, job.split.own.batch);
  int64_t first = own.first(share.sequence);
  // Keys and values in windows have no other rows; a mask has all.
  const int64_t dropped =
      b > lastHeld && !(stage.token_buffers >> b & 1) && b < out
          ? job.droppedOf(share.sequence)
          : 0;
  if (b < out) // what lies in panels of a state is placed by its rows
    cut(buffer, row, first + dropped, 0,
        own.rows(share.sequence) - dropped + (stage.past ? 0 : readableRows));
  else
    cut(buffer, row, first + share.rows.first, share.rows.first,
        share.rows.end - share.rows.first);
}

// Scalars that differ by sequence.
struct SequenceScalars {
  int32_t tokens = 0, keys = 0, first = 0;
};

// Keys of a state: what it held before the run, and the run's own. Those of
// another stream, among which queries have no place, were all there before.
inline int64_t stateKeys(const Job &job, const mille_stage &stage,
                         int64_t sequence) {
  int64_t room =
      sequencesIn(stage, 1, job.tokens, job.split.own.batch).rows(sequence);
  int64_t keys = stage.past[sequence];
  if (stage.first_scalars)
    keys += job.tokens.before(sequence) + job.tokens.rows(sequence);
  keys -= job.droppedOf(sequence);
  return keys < room ? keys : room;
}

inline SequenceScalars scalarsOf(const Job &job, const mille_stage &stage,
                                 int64_t sequence) {
  SequenceScalars own;
  own.tokens = (int32_t)job.tokens.rows(sequence);
  if (!stage.past)
    return own;
  own.keys = (int32_t)stateKeys(job, stage, sequence);
  own.first = stage.past[sequence] + (int32_t)job.tokens.before(sequence) -
              (int32_t)job.droppedOf(sequence);
  return own;
}

// The arguments of a call, and the buffers that they point at.
class Call {
public:
  explicit Call(mille_task *task) : task(task) { arguments[0] = &this->task; }

  void addBuffer(const mille_buffer &buffer) { point(copyOf(buffer)); }
  void addInputs(const Job &job, const mille_stage &stage, const Share &share) {
    for (uint32_t b = 0; b + 1 < stage.kernel->buffer_count; ++b) {
      mille_buffer &buffer = copyOf(stage.buffers[b]);
      cutBuffer(job, stage, share, b, buffer);
      point(buffer);
    }
  }
  void addShifts(const Job &job, const Share &share) {
    if (!job.shifts)
      return;
    shifted = {0, (int32_t)job.panels, 1, 0};
    mille_buffer &buffer = buffers[bufferCount++];
    buffer = {};
    buffer.host =
        const_cast<int32_t *>(job.shifts + share.sequence * job.panelsApart);
    buffer.type_code = MILLE_CODE_INT;
    buffer.type_bits = 32;
    buffer.type_lanes = 1;
    buffer.dimensions = 1;
    buffer.dimension = &shifted;
    point(buffer);
  }
  void addScalars(const Job &job, const mille_stage &stage,
                  const Share &share) {
    if (job.sequences)
      own = scalarsOf(job, stage, share.sequence);
    for (uint32_t s = 0; s < stage.kernel->scalar_count; ++s)
      arguments[count++] = stage.token_scalars >> s & 1 ? &own.tokens
                           : stage.key_scalars >> s & 1 ? &own.keys
                           : stage.first_scalars >> s & 1
                               ? &own.first
                               : const_cast<int32_t *>(&stage.scalars[s]);
  }
  void addOut(const Job &job, const mille_stage &stage, const Share &share) {
    mille_buffer &buffer = copyOf(outOf(stage));
    cutBuffer(job, stage, share, stage.kernel->buffer_count - 1, buffer);
    const Range &columns = share.columns;
    if (int column = outColumn(*stage.kernel); column >= 0)
      cut(buffer, column, columns.first, columns.first,
          columns.end - columns.first);
    point(buffer);
  }

  int32_t run(const mille_kernel &kernel, mille_kernel_function function) {
    mille_session &session = *task->session;
    task->used = task->top = 0;
    if (!session.profiling)
      return function(arguments);
    int64_t begin = nanosecondsOf(CLOCK_MONOTONIC);
    int32_t code = function(arguments);
    uint32_t index = kernelIndex(*session.package->model, &kernel);
    if (index < session.package->model->kernel_count)
      task->nanoseconds[index] += nanosecondsOf(CLOCK_MONOTONIC) - begin;
    return code;
  }

private:
  static constexpr int otherBuffers = 3; // two of parts, one of shifts

  mille_buffer &copyOf(const mille_buffer &buffer) {
    mille_dimension *own = dimensions[bufferCount];
    for (int32_t d = 0; d < buffer.dimensions; ++d)
      own[d] = buffer.dimension[d];
    mille_buffer &copy = buffers[bufferCount++];
    copy = buffer;
    copy.dimension = own;
    return copy;
  }
  void point(mille_buffer &buffer) { arguments[count++] = &buffer; }

  mille_task *task;
  SequenceScalars own;
  mille_dimension shifted;
  uint32_t bufferCount = 0, count = 1;
  mille_buffer buffers[MILLE_MAX_BUFFERS + otherBuffers];
  mille_dimension dimensions[MILLE_MAX_BUFFERS + otherBuffers]
                            [MILLE_MAX_DIMENSIONS];
  void *arguments[1 + MILLE_MAX_BUFFERS + otherBuffers + MILLE_MAX_SCALARS];
};

} // namespace mille

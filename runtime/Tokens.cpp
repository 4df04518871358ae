// Steps that move or join tokens between kernels: windows, pooling, kept
// rows. Must sum in the same order for any batch and any threads.
#include "runtime/Backend.h"
#include "runtime/StepTasks.h"

#include <string.h>

using mille::doneOnDevice;
using mille::Gather;
using mille::Mean;
using mille::rowsPerTask;
using mille::Sequences;
using mille::Similarity;
using mille::tasksOf;

namespace {
// A gather, and the rows of one task.
struct GatherTask {
  const Gather &g;
  int64_t rowsPerTask;
};

void gatherRows(void *context, int64_t task, int) {
  const auto &[g, rowsPerTask] = *static_cast<const GatherTask *>(context);
  int64_t end = (task + 1) * rowsPerTask;
  for (int64_t m = task * rowsPerTask; m < end && m < g.rows(); ++m) {
    int64_t sequence = m / g.perSequence(), t = m % g.perSequence();
    for (int64_t part = 0; part < g.group; ++part) {
      float *into = g.out + m * g.outStride + part * g.columns;
      int64_t from = g.index[t * g.group + part];
      if (from < 0)
        memset(into, 0, g.columns * sizeof(float));
      else
        memcpy(into,
               g.input +
                   (sequence * g.tokens + from / g.parts) * g.inputStride +
                   from % g.parts * g.columns,
               g.columns * sizeof(float));
    }
  }
}

// The sums of a table's columns, one of which a task has: a bias of pairs.
struct PairSums {
  const float *gradient; // [rows, heads * tokens]
  int64_t rows, stride;
  const int32_t *index; // [tokens * tokens]
  int64_t tokens, heads;
  float *out; // [entries, heads]
};

void sumPairs(void *context, int64_t head, int) {
  const PairSums &p = *static_cast<PairSums *>(context);
  for (int64_t m = 0; m < p.rows; ++m) {
    const float *row = p.gradient + m * p.stride + head * p.tokens;
    const int32_t *entries = p.index + m % p.tokens * p.tokens;
    for (int64_t j = 0; j < p.tokens; ++j)
      p.out[entries[j] * p.heads + head] += row[j];
  }
}

// The token that stands for a sequence: the first one where the mask hides all.
int64_t poolToken(const int32_t *values, int64_t tokens, int32_t kind,
                  int64_t skip, int64_t id) {
  if (kind == MILLE_POOL_FIRST)
    return skip;
  if (kind == MILLE_POOL_FIRST_ID) {
    for (int64_t t = 0; t < tokens; ++t)
      if (values[t] == id)
        return t;
    return 0;
  }
  int64_t found = 0;
  for (int64_t t = 0; t < tokens; ++t)
    if (kind == MILLE_POOL_LAST ? !values || values[t]
                                : values[t] > values[found])
      found = t;
  return found;
}

void meanOf(const Mean &mean) {
  constexpr int64_t block = 64;
  for (int64_t s = 0; s < mean.sequences; ++s) {
    const float *rows = mean.input + s * mean.tokens * mean.inputStride;
    const int32_t *valid = mean.mask ? mean.mask + s * mean.tokens : nullptr;
    int64_t count = 0;
    for (int64_t t = mean.first; t < mean.tokens; ++t)
      count += !valid || valid[t];
    for (int64_t from = 0; from < mean.columns; from += block) {
      int64_t left = mean.columns - from, width = left < block ? left : block;
      double sums[block] = {};
      for (int64_t t = mean.first; t < mean.tokens; ++t)
        if (!valid || valid[t])
          for (int64_t c = 0; c < width; ++c)
            sums[c] += rows[t * mean.inputStride + from + c];
      for (int64_t c = 0; c < width; ++c)
        mean.out[s * mean.outStride + from + c] =
            count ? (float)(sums[c] / count) : 0.0f;
    }
  }
}

int32_t checkSkip(mille_run *run, int64_t skip, int64_t tokens) {
  if (skip < tokens)
    return 0;
  return mille_task_fail(
      &mille::sessionOf(run).tasks[0], MILLE_INVALID_ARGUMENT,
      "sequences have %lld tokens but the first %lld are not "
      "pooled",
      (long long)tokens, (long long)skip);
}
} // namespace

extern "C" {

void mille_gather_tokens(mille_run *run, const float *input,
                         int64_t input_stride, int64_t columns,
                         const int32_t *index, int64_t count, int64_t group,
                         int64_t parts, int64_t tokens, float *out,
                         int64_t out_stride) {
  mille_session &session = mille::sessionOf(run);
  Gather gather = {input, input_stride, columns, tokens,     index,     count,
                   group, parts,        out,     out_stride, run->batch};
  if (parts == 1 && doneOnDevice(session, &mille_backend::gather, gather))
    return;
  GatherTask tasks = {gather, rowsPerTask(group * columns)};
  session.share(gatherRows, &tasks, tasksOf(gather.rows(), tasks.rowsPerTask));
}

void mille_pair_sums(mille_run *run, const float *gradient, int64_t rows,
                     int64_t gradient_stride, const int32_t *index,
                     int64_t tokens, int64_t heads, float *out) {
  PairSums sums = {gradient, rows, gradient_stride, index, tokens, heads, out};
  mille::sessionOf(run).share(sumPairs, &sums, heads);
}

void mille_similarity(mille_run *run, const float *left, int64_t left_stride,
                      const float *right, int64_t right_stride, int64_t columns,
                      int32_t output) {
  Similarity s = {left,    right,      left_stride,         right_stride,
                  columns, run->batch, run->outputs[output]};
  if (doneOnDevice(mille::sessionOf(run), &mille_backend::similarity, s))
    return;
  for (int64_t i = 0; i < s.batch; ++i)
    for (int64_t j = 0; j < s.batch; ++j) {
      double sum = 0;
      for (int64_t c = 0; c < columns; ++c)
        sum += (double)left[i * left_stride + c] * right[j * right_stride + c];
      s.out[i * s.batch + j] = (float)sum;
    }
}

int32_t mille_pool_index(mille_run *run, const int32_t *mask, int64_t tokens,
                         int32_t kind, int64_t skip, int64_t id, int32_t *out) {
  mille::HostStep host(run, out, run->batch, 1);
  if (host.skipped())
    return 0;
  Sequences own = mille::sequencesOf(run, tokens);
  if (int32_t code = checkSkip(run, skip, own.tokens))
    return code;
  for (int64_t b = 0; b < run->batch; ++b)
    out[b] =
        (int32_t)(own.first(b) + poolToken(mask ? mask + own.first(b) : nullptr,
                                           own.rows(b), kind, skip, id));
  host.give();
  return 0;
}

int32_t mille_pool_mean(mille_run *run, const float *input,
                        int64_t input_stride, const int32_t *mask,
                        int64_t tokens, int64_t skip, int64_t columns,
                        float *out, int64_t out_stride) {
  mille_session &session = mille::sessionOf(run);
  Sequences own = mille::sequencesOf(run, tokens);
  if (!session.planning)
    if (int32_t code = checkSkip(run, skip, own.tokens))
      return code;
  // If padding was removed, sequences differ in length, and each has a step of
  // its own.
  const int64_t together = own.starts ? 1 : own.batch;
  for (int64_t b = 0; b < own.batch; b += together) {
    const int64_t first = own.first(b), before = own.before(b);
    Mean mean = {input + first * input_stride,
                 input_stride,
                 columns,
                 mask ? mask + first : nullptr,
                 together,
                 own.rows(b),
                 skip > before ? skip - before : 0,
                 out + b * out_stride,
                 out_stride};
    if (!doneOnDevice(session, &mille_backend::mean, mean))
      meanOf(mean);
  }
  return 0;
}

void mille_pool_gradient(mille_run *run, const float *gradient,
                         int64_t gradient_stride, const int32_t *index,
                         const int32_t *mask, int64_t tokens, int64_t skip,
                         int64_t columns, float *out, int64_t rows,
                         int64_t out_stride) {
  mille::HostStep host(run, out, rows, out_stride);
  if (host.skipped())
    return;
  for (int64_t m = 0; m < rows; ++m)
    memset(out + m * out_stride, 0, columns * sizeof(float));
  Sequences own = mille::sequencesOf(run, tokens);
  for (int64_t b = 0; b < own.batch; ++b) {
    const float *row = gradient + b * gradient_stride;
    if (index) {
      memcpy(out + index[b] * out_stride, row, columns * sizeof(float));
      continue;
    }
    const int64_t first = own.first(b), before = own.before(b);
    int64_t from = first + (skip > before ? skip - before : 0), count = 0;
    for (int64_t m = from; m < first + own.rows(b); ++m)
      count += !mask || mask[m] != 0;
    for (int64_t m = from; m < first + own.rows(b); ++m)
      if (!mask || mask[m] != 0)
        for (int64_t c = 0; c < columns; ++c)
          out[m * out_stride + c] = row[c] / (float)count;
  }
  host.give();
}

void mille_reverse_tokens(mille_run *run, const float *input,
                          int64_t input_stride, const int32_t *mask,
                          int64_t tokens, int64_t columns, float *out,
                          int64_t rows, int64_t out_stride) {
  mille::HostStep host(run, out, rows, out_stride);
  if (host.skipped())
    return;
  Sequences own = mille::sequencesOf(run, tokens);
  for (int64_t b = 0; b < own.batch; ++b) {
    const int64_t first = own.first(b), count = own.rows(b);
    for (int64_t t = 0; t < count; ++t) {
      float *row = out + (first + t) * out_stride;
      if (!mask || mask[first + t])
        memcpy(row, input + (first + count - 1 - t) * input_stride,
               columns * sizeof(float));
      else
        memset(row, 0, columns * sizeof(float));
    }
  }
  host.give();
}

void mille_keep(mille_run *run, const float *input, int64_t input_stride,
                int64_t rows, int64_t columns, int32_t output, int64_t index) {
  // An entry has room for padding; putBack moves its rows apart.
  mille_session &session = mille::sessionOf(run);
  int64_t entryRows = session.memory->padding.entryRows(output, *run, rows);
  float *out = run->outputs[output] + index * entryRows * columns;
  if (session.stopped())
    return;
  if (session.part) {
    session.part->device->backend->keep(session, input, input_stride, rows,
                                        columns, out);
    return;
  }
  for (int64_t m = 0; m < rows; ++m)
    memcpy(out + m * columns, input + m * input_stride,
           columns * sizeof(float));
}
}

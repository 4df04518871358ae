// What moves or joins tokens between kernels: windows, patches, pooling, kept
// rows. Must sum in the same order for any batch and threads.
#include "runtime/Backend.h"

#include <string.h>

using mille::Sequences;

namespace {
// Copying is bound by memory: a task has enough rows to pay for its ticket.
constexpr int64_t floatsPerTask = 1 << 16;

int64_t rowsPerTask(int64_t columns) {
  return columns < floatsPerTask ? floatsPerTask / columns : 1;
}

struct Gather {
  const float *input; // [batch * tokens, columns]
  int64_t inputStride, columns;
  const int32_t *index; // [tokens of the out, group]
  int64_t count, group, tokens;
  float *out; // [batch * count / group, group * columns]
  int64_t outStride, rows, rowsPerTask;
};

void gatherRows(void *context, int64_t task, int) {
  const Gather &g = *static_cast<Gather *>(context);
  int64_t perSequence = g.count / g.group;
  int64_t end = (task + 1) * g.rowsPerTask;
  for (int64_t m = task * g.rowsPerTask; m < end && m < g.rows; ++m) {
    int64_t sequence = m / perSequence, t = m % perSequence;
    for (int64_t part = 0; part < g.group; ++part) {
      float *into = g.out + m * g.outStride + part * g.columns;
      int64_t from = g.index[t * g.group + part];
      if (from < 0)
        memset(into, 0, g.columns * sizeof(float));
      else
        memcpy(into, g.input + (sequence * g.tokens + from) * g.inputStride,
               g.columns * sizeof(float));
    }
  }
}

struct Patches {
  const float *pixels; // [batch, channels, height, width]
  int64_t pixelStride;
  int32_t channels, height, width, kernelY, kernelX, strideY, strideX, paddingY,
      paddingX, prefix;
  float *out; // [batch * (prefix + down * across), channels * kernelY * kernelX]
  int64_t outStride, down, across, rows, rowsPerTask;

  int64_t columns() const { return (int64_t)channels * kernelY * kernelX; }
  void copyPatch(const float *image, int64_t y, int64_t x, float *into) const;
};

// The patch whose first pixel is at y, x: zeros where that is outside.
void Patches::copyPatch(const float *image, int64_t y, int64_t x,
                        float *into) const {
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t dy = 0; dy < kernelY; ++dy)
      for (int64_t dx = 0; dx < kernelX; ++dx) {
        bool inside = y + dy >= 0 && y + dy < height && x + dx >= 0 &&
                      x + dx < width;
        *into++ =
            inside ? image[(c * height + y + dy) * width + x + dx] : 0.0f;
      }
}

void patchRows(void *context, int64_t task, int) {
  const Patches &p = *static_cast<Patches *>(context);
  int64_t perImage = p.prefix + p.down * p.across;
  int64_t end = (task + 1) * p.rowsPerTask;
  for (int64_t m = task * p.rowsPerTask; m < end && m < p.rows; ++m) {
    int64_t patch = m % perImage - p.prefix;
    float *into = p.out + m * p.outStride;
    if (patch < 0)
      memset(into, 0, p.columns() * sizeof(float));
    else
      p.copyPatch(p.pixels + m / perImage * p.pixelStride,
                  patch / p.across * p.strideY - p.paddingY,
                  patch % p.across * p.strideX - p.paddingX, into);
  }
}

int64_t tasksOf(int64_t rows, int64_t rowsPerTask) {
  return (rows + rowsPerTask - 1) / rowsPerTask;
}

// The token that stands for a sequence; a masked one throughout has its first.
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
int32_t checkSkip(mille_run *run, int64_t skip, int64_t tokens) {
  if (skip < tokens)
    return 0;
  return mille_task_fail(&mille::sessionOf(run).tasks[0],
                         MILLE_INVALID_ARGUMENT,
                         "sequences have %lld tokens but the first %lld are not "
                         "pooled",
                         (long long)tokens, (long long)skip);
}
} // namespace

extern "C" {

void mille_gather_tokens(mille_run *run, const float *input,
                         int64_t input_stride, int64_t columns,
                         const int32_t *index, int64_t count, int64_t group,
                         int64_t tokens, float *out, int64_t out_stride) {
  mille::HostStep host(run);
  if (host.skipped())
    return;
  Gather gather = {input,  input_stride, columns,
                   index,  count,        group,
                   tokens, out,          out_stride,
                   0,      0};
  gather.rows = run->batch * (count / group);
  gather.rowsPerTask = rowsPerTask(group * columns);
  host.take(input, run->batch * tokens, input_stride);
  mille::sessionOf(run).share(gatherRows, &gather,
                              tasksOf(gather.rows, gather.rowsPerTask));
  host.give(out, gather.rows, out_stride);
}

void mille_patches(mille_run *run, const float *pixels, int64_t pixel_stride,
                   const int32_t *n, float *out, int64_t out_stride) {
  mille::HostStep host(run);
  if (host.skipped())
    return;
  Patches patches = {pixels, pixel_stride, n[0], n[1], n[2],
                     n[3],   n[4],         n[5], n[6], n[7],
                     n[8],   n[9],         out,  out_stride,
                     0,      0,            0,    0};
  patches.down =
      (patches.height + 2 * patches.paddingY - patches.kernelY) /
          patches.strideY +
      1;
  patches.across =
      (patches.width + 2 * patches.paddingX - patches.kernelX) /
          patches.strideX +
      1;
  patches.rows =
      run->batch * (patches.prefix + patches.down * patches.across);
  patches.rowsPerTask = rowsPerTask(patches.columns());
  mille::sessionOf(run).share(patchRows, &patches,
                              tasksOf(patches.rows, patches.rowsPerTask));
  host.give(out, patches.rows, out_stride);
}

void mille_similarity(mille_run *run, const float *left, int64_t left_stride,
                      const float *right, int64_t right_stride, int64_t columns,
                      int32_t output) {
  mille::HostStep host(run);
  if (host.skipped())
    return;
  float *out = run->outputs[output]; // [batch, batch]
  host.take(left, run->batch, left_stride);
  host.take(right, run->batch, right_stride);
  for (int64_t i = 0; i < run->batch; ++i)
    for (int64_t j = 0; j < run->batch; ++j) {
      double sum = 0;
      for (int64_t c = 0; c < columns; ++c)
        sum += (double)left[i * left_stride + c] * right[j * right_stride + c];
      out[i * run->batch + j] = (float)sum;
    }
  host.give(out, run->batch, run->batch);
}

int32_t mille_pool_index(mille_run *run, const int32_t *mask, int64_t tokens,
                         int32_t kind, int64_t skip, int64_t id, int32_t *out) {
  mille::HostStep host(run);
  if (host.skipped())
    return 0;
  Sequences own = mille::sequencesOf(run, tokens);
  if (int32_t code = checkSkip(run, skip, own.tokens))
    return code;
  for (int64_t b = 0; b < run->batch; ++b)
    out[b] = (int32_t)(own.first(b) + poolToken(mask ? mask + own.first(b) : nullptr,
                                                own.rows(b), kind, skip, id));
  host.give(out, run->batch, 1);
  return 0;
}

int32_t mille_pool_mean(mille_run *run, const float *input,
                        int64_t input_stride, const int32_t *mask,
                        int64_t tokens, int64_t skip, int64_t columns,
                        float *out, int64_t out_stride) {
  mille::HostStep host(run);
  if (host.skipped())
    return 0;
  constexpr int64_t block = 64;
  Sequences own = mille::sequencesOf(run, tokens);
  if (int32_t code = checkSkip(run, skip, own.tokens))
    return code;
  host.take(input, run->batch * own.tokens, input_stride);
  for (int64_t b = 0; b < run->batch; ++b) {
    const float *rows = input + own.first(b) * input_stride; // [tokens, columns]
    const int32_t *valid = mask ? mask + own.first(b) : nullptr;
    int64_t first = skip > own.before(b) ? skip - own.before(b) : 0, count = 0;
    for (int64_t t = first; t < own.rows(b); ++t)
      count += !valid || valid[t];
    for (int64_t from = 0; from < columns; from += block) {
      int64_t width = columns - from < block ? columns - from : block;
      double sums[block] = {};
      for (int64_t t = first; t < own.rows(b); ++t)
        if (!valid || valid[t])
          for (int64_t c = 0; c < width; ++c)
            sums[c] += rows[t * input_stride + from + c];
      for (int64_t c = 0; c < width; ++c)
        out[b * out_stride + from + c] =
            count ? (float)(sums[c] / count) : 0.0f;
    }
  }
  host.give(out, run->batch, out_stride);
  return 0;
}

void mille_keep(mille_run *run, const float *input, int64_t input_stride,
                int64_t rows, int64_t columns, int32_t output, int64_t index) {
  // Entries have room for padding too: putBack spreads the rows.
  const mille_session &session = mille::sessionOf(run);
  int64_t entryRows =
      session.padding.entryRows(*session.package->model, output, *run, rows);
  float *out = run->outputs[output] + index * entryRows * columns;
  if (mille::HostStep(run).kept(input, input_stride, rows, columns, out))
    return;
  for (int64_t m = 0; m < rows; ++m)
    memcpy(out + m * columns, input + m * input_stride,
           columns * sizeof(float));
}
}

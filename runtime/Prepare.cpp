// Inputs that are prepared once per run: masks, rotations, schedules, pooling.
// Must give the same bits for any batch: nothing looks across sequences.
#include "runtime/Session.h"

#include <math.h>
#include <string.h>

namespace {
// A sine and a cosine in double are as dear as hundreds of multiply-adds, so
// threads share them: a task has some tokens of all sequences.
constexpr int64_t rotationBlock = 16;

struct Rotation {
  const int32_t *positions; // [sequences, tokens]
  const double *frequencies;
  int64_t n;
  double factor;
  float *out; // [sequences * tokens, 2n]
  int64_t stride, sequences, tokens;
};

void rotateBlock(void *context, int64_t block, int) {
  const Rotation &r = *static_cast<Rotation *>(context);
  int64_t first = block * rotationBlock, end = first + rotationBlock;
  for (int64_t t = first; t < end && t < r.tokens; ++t)
    for (int64_t m = t; m < r.sequences * r.tokens; m += r.tokens) {
      float *row = r.out + m * r.stride; // [2n]: cosines, sines
      // The sequence before has most often the same position here.
      if (m != t && r.positions[m - r.tokens] == r.positions[m]) {
        memcpy(row, row - r.tokens * r.stride, 2 * r.n * sizeof(float));
        continue;
      }
      for (int64_t i = 0; i < r.n; ++i) {
        double angle = r.positions[m] * r.frequencies[i];
        row[i] = (float)(r.factor * cos(angle));
        row[r.n + i] = (float)(r.factor * sin(angle));
      }
    }
}
} // namespace

extern "C" {

void mille_key_bias(mille_run *, const int32_t *mask, int64_t rows,
                    float *out) {
  for (int64_t m = 0; m < rows; ++m)
    out[m] = mask[m] ? 0.0f : -1e30f;
}

void mille_rotation(mille_run *run, const int32_t *positions, int64_t rows,
                    const double *frequencies, int64_t n, double factor,
                    float *out, int64_t row_stride) {
  Rotation rotation = {positions, frequencies, n, factor,
                       out,       row_stride,  1, rows};
  if (rows == run->batch * run->tokens) {
    rotation.sequences = run->batch;
    rotation.tokens = run->tokens;
  }
  mille_session &session = *static_cast<mille::Run *>(run)->session;
  int64_t blocks = (rotation.tokens + rotationBlock - 1) / rotationBlock;
  if (session.threads > 1)
    session.pool.run(rotateBlock, &rotation, blocks);
  else
    for (int64_t block = 0; block < blocks; ++block)
      rotateBlock(&rotation, block, 0);
}

void mille_schedule(mille_run *, const int32_t *step, double from, double to,
                    int64_t steps, float *out) {
  int64_t at = *step < steps ? *step : steps;
  *out = (float)(steps > 0 ? from + (to - from) * at / steps : to);
}

void mille_pool_index(mille_run *run, const int32_t *mask, int64_t tokens,
                      int32_t last, int32_t *out) {
  for (int64_t b = 0; b < run->batch; ++b) {
    int64_t row = b * tokens, found = 0;
    // A sequence that is masked throughout is pooled at its first token.
    if (last)
      for (int64_t t = 0; t < tokens; ++t)
        if (!mask || mask[row + t])
          found = t;
    out[b] = (int32_t)(row + found);
  }
}

void mille_pool_mean(mille_run *run, const float *input, int64_t input_stride,
                     const int32_t *mask, int64_t tokens, int64_t columns,
                     float *out, int64_t out_stride) {
  constexpr int64_t block = 64;
  for (int64_t b = 0; b < run->batch; ++b) {
    const float *rows = input + b * tokens * input_stride; // [tokens, columns]
    const int32_t *valid = mask ? mask + b * tokens : nullptr;
    int64_t count = 0;
    for (int64_t t = 0; t < tokens; ++t)
      count += !valid || valid[t];
    for (int64_t first = 0; first < columns; first += block) {
      int64_t width = columns - first < block ? columns - first : block;
      double sums[block] = {};
      for (int64_t t = 0; t < tokens; ++t)
        if (!valid || valid[t])
          for (int64_t c = 0; c < width; ++c)
            sums[c] += rows[t * input_stride + first + c];
      for (int64_t c = 0; c < width; ++c)
        out[b * out_stride + first + c] =
            count ? (float)(sums[c] / count) : 0.0f;
    }
  }
}

void mille_keep(mille_run *run, const float *input, int64_t input_stride,
                int64_t columns, int32_t output, int64_t index) {
  int64_t rows = run->batch * run->tokens;
  float *out = run->outputs[output] + index * rows * columns;
  for (int64_t m = 0; m < rows; ++m)
    memcpy(out + m * columns, input + m * input_stride,
           columns * sizeof(float));
}
}

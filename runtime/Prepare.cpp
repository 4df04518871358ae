// Inputs that are prepared once per run: masks, rotations, schedules, pooling.
// Must give the same bits for any batch: nothing looks across sequences.
#include "runtime/Session.h"

#include <math.h>
#include <string.h>

extern "C" {

void mille_key_bias(mille_run *, const int32_t *mask, int64_t rows,
                    float *out) {
  for (int64_t m = 0; m < rows; ++m)
    out[m] = mask[m] ? 0.0f : -1e30f;
}

void mille_rotation(mille_run *run, const int32_t *positions, int64_t rows,
                    const double *frequencies, int64_t n, double factor,
                    float *out, int64_t row_stride) {
  for (int64_t m = 0; m < rows; ++m) {
    float *row = out + m * row_stride; // [2n]: cosines, sines
    // The sequence before has most often the same position here.
    int64_t before = m - run->tokens;
    if (before >= 0 && positions[before] == positions[m]) {
      memcpy(row, out + before * row_stride, 2 * n * sizeof(float));
      continue;
    }
    for (int64_t i = 0; i < n; ++i) {
      double angle = positions[m] * frequencies[i];
      row[i] = (float)(factor * cos(angle));
      row[n + i] = (float)(factor * sin(angle));
    }
  }
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

// Inputs that are prepared once per run: positions, rotations, schedules.
// Must give the same bits for any batch and any threads: no step looks across
// sequences, except a rotation whose frequencies follow the run's length.
#include "runtime/Backend.h"
#include "runtime/Philox.h"

#include <math.h>
#include <string.h>

namespace {
// A sine and a cosine in double take as long as hundreds of multiply-adds, so
// threads share them: a task computes some tokens of all sequences.
constexpr int64_t rotationBlock = 16;
constexpr int64_t frequencyBlock = 64;

struct Rotation {
  const int32_t *positions; // [rows]
  const double *frequencies;
  int64_t n;
  double factor;
  float *out; // [rows, 2n]
  int64_t stride;
  mille::Sequences own;
  int64_t longest;  // rows of the longest sequence
  double stretched; // frequency i is divided by stretched^(i / (n - 1))
};

// Frequencies first .. first + count - 1 of tokens from .. end - 1.
void rotateRows(const Rotation &r, const double *frequencies, int64_t first,
                int64_t count, int64_t from, int64_t end) {
  for (int64_t t = from; t < end; ++t)
    for (int64_t s = 0, last = -1; s < r.own.batch; ++s) {
      if (t >= r.own.rows(s))
        continue;
      int64_t m = r.own.first(s) + t;
      float *row = r.out + m * r.stride + first; // [2n]: cosines, sines
      // The sequence before has the same position here in most runs.
      const float *before = r.out + last * r.stride + first;
      bool same = last >= 0 && r.positions[last] == r.positions[m];
      last = m;
      if (same) {
        memcpy(row, before, count * sizeof(float));
        memcpy(row + r.n, before + r.n, count * sizeof(float));
        continue;
      }
      for (int64_t i = 0; i < count; ++i) {
        double angle = r.positions[m] * frequencies[i];
        row[i] = (float)(r.factor * cos(angle));
        row[r.n + i] = (float)(r.factor * sin(angle));
      }
    }
}

void rotateBlock(void *context, int64_t block, int) {
  const Rotation &r = *static_cast<Rotation *>(context);
  int64_t from = block * rotationBlock, end = from + rotationBlock;
  end = end < r.longest ? end : r.longest;
  for (int64_t first = 0; first < r.n; first += frequencyBlock) {
    double frequencies[frequencyBlock];
    int64_t left = r.n - first;
    int64_t count = left < frequencyBlock ? left : frequencyBlock;
    for (int64_t i = 0; i < count; ++i) {
      frequencies[i] = r.frequencies[first + i];
      if (r.stretched != 1 && r.n > 1)
        frequencies[i] /= pow(r.stretched, double(first + i) / (r.n - 1));
    }
    rotateRows(r, frequencies, first, count, from, end);
  }
}

// To the nearest, ties to even; as a double again.
double roundToBf16(double value) {
  float single = (float)value;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  if ((bits & 0x7fffffff) <= 0x7f800000) // not NaN
    bits += 0x7fff + (bits >> 16 & 1);
  bits &= 0xffff0000;
  memcpy(&single, &bits, sizeof single);
  return single;
}

// The keys of one sequence that query i sees.
struct Seen {
  const int32_t *mask; // [tokens], null: all ones
  int64_t tokens;
  bool causal;
  int64_t left, right; // window, 0: none

  int64_t from(int64_t i) const {
    return left > 0 && i - left + 1 > 0 ? i - left + 1 : 0;
  }
  int64_t end(int64_t i) const {
    int64_t end = causal ? i + 1 : tokens;
    if (right > 0 && i + right < end)
      end = i + right;
    return end;
  }
};

double logKeys(const double *numbers, int64_t keys) {
  double base = numbers[0], floor = numbers[1];
  return log(keys > floor ? (double)keys : floor) / log(base);
}

// Of queries `first` to the last.
void scaleByKeys(const Seen &seen, const double *numbers, int64_t first,
                 float *out) {
  // The window slides: keys come in at its end and leave at its start.
  int64_t from = 0, end = 0, keys = 0;
  for (int64_t i = 0; i < seen.tokens; ++i) {
    for (; end < seen.end(i); ++end)
      keys += !seen.mask || seen.mask[end];
    for (; from < seen.from(i); ++from)
      keys -= !seen.mask || seen.mask[from];
    if (i >= first)
      out[i - first] = (float)logKeys(numbers, keys);
  }
}
} // namespace

namespace {

// Rows of a dropout, some to a task.
constexpr int64_t droppedRows = 16;
struct Dropping {
  mille::Dropout mask;
  const float *input;
  int64_t inputStride, columns, firstRow, rows;
  float *out;
  int64_t outStride;
};

void dropRows(void *context, int64_t task, int) {
  const Dropping &drop = *(const Dropping *)context;
  const float factor = drop.mask.factor();
  const uint32_t threshold = drop.mask.threshold();
  const int64_t end = (task + 1) * droppedRows;
  for (int64_t m = task * droppedRows; m < end && m < drop.rows; ++m)
    for (int64_t c = 0; c < drop.columns; c += 4) {
      const mille::Philox words =
          drop.mask.words((uint32_t)(c / 4), (uint32_t)(drop.firstRow + m));
      const float *from = drop.input + m * drop.inputStride + c;
      float *to = drop.out + m * drop.outStride + c;
      for (int64_t i = 0; i < 4 && c + i < drop.columns; ++i)
        to[i] = words.word[i] >= threshold ? from[i] * factor : 0;
    }
}

} // namespace

extern "C" {

void mille_rotation(mille_run *run, const int32_t *positions, int64_t rows,
                    const double *frequencies, int64_t n, double factor,
                    int64_t after, double stretch,
                    const double *long_frequencies, float *out,
                    int64_t row_stride) {
  mille::HostStep host(run, out, rows, row_stride);
  if (host.skipped())
    return;
  mille_session &session = mille::sessionOf(run);
  // The length counts padding: it is that of the run as it was given.
  const int32_t *whole =
      session.memory->padding.wholeOf(run->inputs, positions);
  int64_t length = 0,
          all = whole == positions ? rows : run->batch * run->tokens;
  for (int64_t m = 0; after > 0 && m < all; ++m)
    length = whole[m] >= length ? (int64_t)whole[m] + 1 : length;
  mille::Sequences own = {1, rows};
  if (rows == run->token_rows)
    own = mille::sequencesOf(run, MILLE_RUN_TOKENS);
  else if (rows % run->batch == 0)
    own = {run->batch, rows / run->batch};
  Rotation rotation = {positions, frequencies,   n, factor, out, row_stride,
                       own,       own.longest(), 1};
  if (length > after && long_frequencies)
    rotation.frequencies = long_frequencies;
  else if (length > after)
    rotation.stretched = stretch * length / after - (stretch - 1);
  int64_t blocks = (rotation.longest + rotationBlock - 1) / rotationBlock;
  session.share(rotateBlock, &rotation, blocks);
  host.give();
}

void mille_alibi(mille_run *run, const int32_t *positions, int64_t rows,
                 const double *slopes, int64_t heads, double factor, float *out,
                 int64_t row_stride) {
  mille::HostStep host(run, out, rows, row_stride);
  if (host.skipped())
    return;
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t h = 0; h < heads; ++h)
      out[m * row_stride + h] =
          (float)(factor * roundToBf16(roundToBf16(slopes[h]) * positions[m]));
  host.give();
}

void mille_dropout(mille_run *run, const float *input, int64_t input_stride,
                   int64_t columns, const int32_t *step, const int32_t *first,
                   int64_t tokens, double rate, uint32_t seed, uint32_t site,
                   uint32_t layer, float *out, int64_t rows,
                   int64_t out_stride) {
  mille::HostStep host(run, out, rows, out_stride);
  if (host.skipped())
    return;
  const int64_t each = tokens == MILLE_RUN_TOKENS ? run->tokens : tokens;
  mille_session &session = mille::sessionOf(run);
  if (session.dropoutSeed >= 0)
    seed = (uint32_t)session.dropoutSeed;
  Dropping drop = {{seed, site, (uint32_t)*step, layer, rate},
                   input,
                   input_stride,
                   columns,
                   *first * each,
                   rows,
                   out,
                   out_stride};
  session.share(dropRows, &drop, (rows + droppedRows - 1) / droppedRows);
  host.give();
}

void mille_shift(mille_run *run, const int32_t *ids, int64_t rows,
                 int32_t number, int32_t *out) {
  mille::HostStep host(run, out, rows, 1);
  if (host.skipped())
    return;
  for (int64_t m = 0; m < rows; ++m)
    out[m] = ids[m] + number;
  host.give();
}

void mille_spread(mille_run *run, const float *weight, const int32_t *from,
                  int64_t count, float *out) {
  mille::HostStep host(run, out, count, 1);
  if (host.skipped())
    return;
  for (int64_t i = 0; i < count; ++i)
    out[i] = weight[from[i]];
  host.give();
}

void mille_query_scale(mille_run *run, int32_t kind, const double *numbers,
                       const int32_t *positions, const int32_t *mask,
                       int64_t rows, int64_t tokens, int32_t causal,
                       int64_t window_left, int64_t window_right,
                       const int32_t *past, int64_t state_rows, float *out) {
  mille::HostStep host(run, out, rows, 1);
  if (host.skipped())
    return;
  double base = numbers[0], beta = numbers[2], period = numbers[3],
         offset = numbers[4];
  mille::Sequences own = mille::sequencesOf(run, tokens);
  for (int64_t s = 0; s < own.batch; ++s) {
    int64_t m = own.first(s), count = own.rows(s);
    int64_t held = past ? past[s] : 0; // tokens before the run's
    int64_t first = held + own.before(s);
    const int32_t *own_mask = !mask  ? nullptr
                              : past ? mask + s * state_rows
                                     : mask + m;
    Seen seen = {own_mask, past ? first + count : count, causal != 0,
                 window_left, window_right};
    if (kind == MILLE_LOG_KEYS)
      scaleByKeys(seen, numbers, past ? first : 0, out + m);
    else if (kind == MILLE_LOG_POSITION)
      for (int64_t i = 0; i < count; ++i)
        out[m + i] = (float)fmax(1, log((double)(first + i + 1)) / log(base));
    else
      for (int64_t i = 0; i < count; ++i)
        out[m + i] =
            (float)(1 + beta * log(1 + floor((positions[m + i] + offset) /
                                             period)));
  }
  host.give();
}

void mille_schedule(mille_run *run, int32_t schedule, const int32_t *step,
                    float *out) {
  mille::HostStep host(run, out, 1, 1);
  if (host.skipped())
    return;
  const mille_session &session = mille::sessionOf(run);
  const mille_schedule_info &info = session.package->model->schedules[schedule];
  double set = session.scales[schedule];
  int64_t at = *step < info.steps ? *step : info.steps;
  *out =
      (float)(isnan(set) ? info.from + (info.to - info.from) * at / info.steps
                         : set);
  host.give();
}

void mille_token_numbers(mille_run *run, const int32_t *numbers, int64_t n,
                         int32_t *out) {
  mille::HostStep host(run, out, run->batch, n);
  if (host.skipped())
    return;
  for (int64_t b = 0; b < run->batch; ++b)
    memcpy(out + b * n, numbers, n * sizeof(int32_t));
  host.give();
}

void mille_count_tokens(mille_run *run, const int32_t *ids, int64_t rows,
                        int64_t tokens, int32_t padded, int32_t padding,
                        int32_t first, int32_t each, const int32_t *past,
                        int64_t state_rows, int32_t *out) {
  mille::HostStep host(run, out, rows, 1);
  if (host.skipped())
    return;
  mille::Sequences own = mille::sequencesOf(run, tokens);
  const mille_session &session = mille::sessionOf(run);
  // A removed token of padding counts too, where its id counts.
  const int32_t *whole = session.memory->padding.wholeOf(run->inputs, ids);
  for (int64_t s = 0; s < own.batch; ++s) {
    const int32_t *given = whole + s * (past ? state_rows : own.tokens);
    int64_t held = past ? past[s] : 0; // tokens before the run's
    int64_t before = held + own.before(s), end = before + own.rows(s);
    int32_t count = first;
    for (int64_t t = 0; t < end; ++t) {
      bool counts =
          t < (past ? state_rows : end) && given[t] != (padded ? padding : 0);
      if (t >= before)
        out[own.rowOf(s, t - held)] = counts ? count / each : 0;
      count += counts;
    }
  }
  host.give();
}
}

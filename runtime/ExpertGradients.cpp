// What the backward pass of experts computes beside its kernels: gradients of
// the router's logits and of experts' weights, the loss that balances experts,
// and the expert of each row.
// Must compute each row from itself alone, but for that loss, which reads whole
// numbers of all of them: the same for any threads.
#include "runtime/Backend.h"
#include "runtime/Partition.h"

#include <math.h>

namespace {
constexpr int64_t rowsPerTask = 64;

int64_t blocksOf(int64_t rows) {
  return (rows + rowsPerTask - 1) / rowsPerTask;
}

// Rows of one task.
mille::Range rowsOf(int64_t task, int64_t rows) {
  const int64_t first = task * rowsPerTask, end = first + rowsPerTask;
  return {first, end < rows ? end : rows};
}

// The expert of a sorted place: the last whose rows begin there or before.
int32_t expertAt(const int32_t *starts, int32_t entries, int32_t place) {
  int32_t low = 0, high = entries - 1;
  while (low < high) {
    const int32_t middle = low + (high - low + 1) / 2;
    if (starts[middle] <= place)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

void softmax(double *row, int32_t count) {
  double largest = -HUGE_VAL, sum = 0;
  for (int32_t i = 0; i < count; ++i)
    largest = fmax(largest, row[i]);
  for (int32_t i = 0; i < count; ++i)
    sum += row[i] = exp(row[i] - largest);
  for (int32_t i = 0; i < count; ++i)
    row[i] /= sum;
}

// The gradient of a softmax's input: p is its result, g becomes the answer.
void throughSoftmax(const double *p, double *g, int32_t count) {
  double mean = 0;
  for (int32_t i = 0; i < count; ++i)
    mean += p[i] * g[i];
  for (int32_t i = 0; i < count; ++i)
    g[i] = p[i] * (g[i] - mean);
}

struct RouteBack {
  int32_t entries, k;
  bool sigmoid, renormalised, softmaxChosen;
  double epsilon, factor;
  const float *gradient, *logits;
  int64_t gradientStride, logitsStride;
  const int32_t *place, *starts;
  int64_t rows;
  float *out;
  int64_t outStride;

  void row(int64_t m) const;
  void ofChosen(const float *weights, const double *chosen, double *into) const;
};

// weight = factor * chosen / sum, where they are renormalised, else factor *
// chosen.
void RouteBack::ofChosen(const float *weights, const double *chosen,
                         double *into) const {
  double sum = 1, mean = 0;
  if (renormalised) {
    sum = epsilon;
    for (int32_t j = 0; j < k; ++j)
      sum += chosen[j];
    for (int32_t j = 0; j < k; ++j)
      mean += weights[j] * chosen[j] / sum;
  }
  for (int32_t j = 0; j < k; ++j)
    into[j] = factor * (weights[j] - mean) / sum;
}

void RouteBack::row(int64_t m) const {
  double scores[MILLE_MOST_EXPERTS], all[MILLE_MOST_EXPERTS],
      chosen[MILLE_MOST_EXPERTS], change[MILLE_MOST_EXPERTS];
  int32_t experts[MILLE_MOST_EXPERTS];
  for (int32_t e = 0; e < entries; ++e) {
    const double logit = logits[m * logitsStride + e];
    scores[e] = sigmoid ? 1 / (1 + exp(-logit)) : logit;
    all[e] = 0;
  }
  if (!sigmoid && !softmaxChosen)
    softmax(scores, entries);
  for (int32_t j = 0; j < k; ++j) {
    experts[j] = expertAt(starts, entries, place[m * k + j]);
    chosen[j] = softmaxChosen ? (double)logits[m * logitsStride + experts[j]]
                              : scores[experts[j]];
  }
  if (softmaxChosen)
    softmax(chosen, k);
  ofChosen(gradient + m * gradientStride, chosen, change);
  if (softmaxChosen)
    throughSoftmax(chosen, change, k);
  for (int32_t j = 0; j < k; ++j)
    all[experts[j]] += change[j];
  if (!softmaxChosen && sigmoid)
    for (int32_t e = 0; e < entries; ++e)
      all[e] *= scores[e] * (1 - scores[e]);
  else if (!softmaxChosen)
    throughSoftmax(scores, all, entries);
  for (int32_t e = 0; e < entries; ++e)
    out[m * outStride + e] = (float)all[e];
}

void routeBlock(void *context, int64_t task, int) {
  const RouteBack &route = *static_cast<RouteBack *>(context);
  const mille::Range rows = rowsOf(task, route.rows);
  for (int64_t m = rows.first; m < rows.end; ++m)
    route.row(m);
}

struct Shares {
  const float *logits;
  int64_t logitsStride, entries, k;
  const int32_t *place, *starts;
  int64_t rows;
  float *out;
  int64_t outStride;
};

void sharesBlock(void *context, int64_t task, int) {
  const Shares &s = *static_cast<Shares *>(context);
  const mille::Range rows = rowsOf(task, s.rows);
  double p[MILLE_MOST_EXPERTS];
  for (int64_t m = rows.first; m < rows.end; ++m) {
    float *out = s.out + m * s.outStride;
    for (int64_t e = 0; e < s.entries; ++e) {
      p[e] = s.logits[m * s.logitsStride + e];
      out[e] = 0;
    }
    softmax(p, (int32_t)s.entries);
    for (int64_t e = 0; e < s.entries; ++e)
      out[s.entries + e] = (float)p[e];
    for (int64_t j = 0; j < s.k; ++j)
      out[expertAt(s.starts, (int32_t)s.entries, s.place[m * s.k + j])] = 1;
  }
}

struct SharesBack {
  const float *gradient;
  int64_t gradientStride;
  const float *logits;
  int64_t logitsStride, entries, rows;
  float *out;
  int64_t outStride;
};

void sharesBackBlock(void *context, int64_t task, int) {
  const SharesBack &s = *static_cast<SharesBack *>(context);
  const mille::Range rows = rowsOf(task, s.rows);
  double p[MILLE_MOST_EXPERTS], g[MILLE_MOST_EXPERTS];
  for (int64_t m = rows.first; m < rows.end; ++m) {
    for (int64_t e = 0; e < s.entries; ++e) {
      p[e] = s.logits[m * s.logitsStride + e];
      g[e] = s.gradient[m * s.gradientStride + s.entries + e];
    }
    softmax(p, (int32_t)s.entries);
    throughSoftmax(p, g, (int32_t)s.entries);
    for (int64_t e = 0; e < s.entries; ++e)
      s.out[m * s.outStride + e] = (float)g[e];
  }
}

struct SlotProducts {
  const float *slots, *row;
  int64_t slotsStride, rowStride, columns, k;
  const int32_t *place;
  int64_t rows;
  float *out;
  int64_t outStride;

  // Sums in as many numbers as vectors have, then these.
  double product(const float *a, const float *b) const {
    constexpr int together = 8;
    double sums[together] = {}, sum = 0;
    int64_t c = 0;
    for (; c + together <= columns; c += together)
      for (int i = 0; i < together; ++i)
        sums[i] += (double)a[c + i] * b[c + i];
    for (double one : sums)
      sum += one;
    for (; c < columns; ++c)
      sum += (double)a[c] * b[c];
    return sum;
  }
};

void productBlock(void *context, int64_t task, int) {
  const SlotProducts &p = *static_cast<SlotProducts *>(context);
  const mille::Range rows = rowsOf(task, p.rows);
  for (int64_t m = rows.first; m < rows.end; ++m)
    for (int64_t j = 0; j < p.k; ++j)
      p.out[m * p.outStride + j] =
          (float)p.product(p.slots + p.place[m * p.k + j] * p.slotsStride,
                           p.row + m * p.rowStride);
}

} // namespace

extern "C" {

void mille_route_gradient(mille_run *run, const int32_t *n, double epsilon,
                          double factor, const float *gradient,
                          int64_t gradient_stride, const float *logits,
                          int64_t logits_stride, const int32_t *place,
                          const int32_t *starts, float *out, int64_t rows,
                          int64_t out_stride) {
  mille::HostStep host(run, out, rows, out_stride);
  if (host.skipped())
    return;
  RouteBack route = {n[0],
                     n[1],
                     n[2] == MILLE_SCORE_SIGMOID,
                     n[3] != 0,
                     n[4] != 0,
                     epsilon,
                     factor,
                     gradient,
                     logits,
                     gradient_stride,
                     logits_stride,
                     place,
                     starts,
                     rows,
                     out,
                     out_stride};
  mille::sessionOf(run).share(routeBlock, &route, blocksOf(rows));
  host.give();
}

void mille_route_shares(mille_run *run, const float *logits,
                        int64_t logits_stride, int64_t entries, int64_t k,
                        const int32_t *place, const int32_t *starts, float *out,
                        int64_t rows, int64_t out_stride) {
  mille::HostStep host(run, out, rows, out_stride);
  if (host.skipped())
    return;
  Shares shares = {logits, logits_stride, entries, k,         place,
                   starts, rows,          out,     out_stride};
  mille::sessionOf(run).share(sharesBlock, &shares, blocksOf(rows));
  host.give();
}

void mille_shares_gradient(mille_run *run, const float *gradient,
                           int64_t gradient_stride, const float *logits,
                           int64_t logits_stride, int64_t entries, float *out,
                           int64_t rows, int64_t out_stride) {
  mille::HostStep host(run, out, rows, out_stride);
  if (host.skipped())
    return;
  SharesBack shares = {gradient,      gradient_stride, logits,
                       logits_stride, entries,         rows,
                       out,           out_stride};
  mille::sessionOf(run).share(sharesBackBlock, &shares, blocksOf(rows));
  host.give();
}

/* Counts are whole numbers, so that their sums are exact. */
void mille_balance_loss(mille_run *run, const float *losses,
                        int64_t losses_stride, const float *shares,
                        int64_t shares_stride, int64_t entries, int64_t k,
                        double factor, const int32_t *mask, float *total,
                        int64_t total_stride, float *gradient, int64_t rows,
                        int64_t gradient_stride) {
  mille::HostStep host(run, total, rows, total_stride),
      back(run, gradient, rows, gradient_stride);
  if (host.skipped())
    return;
  double count[MILLE_MOST_EXPERTS], all = 0;
  for (int64_t e = 0; e < entries; ++e) {
    count[e] = 0;
    for (int64_t m = 0; m < rows; ++m)
      if (!mask || mask[m])
        count[e] += shares[m * shares_stride + e];
    all += count[e];
  }
  all /= (double)k;
  for (int64_t e = 0; e < entries && all > 0; ++e)
    count[e] *= factor * (double)entries / (all * all);
  for (int64_t m = 0; m < rows; ++m) {
    float *g = gradient + m * gradient_stride;
    double part = 0;
    for (int64_t e = 0; e < entries; ++e) {
      const double slope = !mask || mask[m] ? count[e] : 0;
      part += slope * shares[m * shares_stride + entries + e];
      g[e] = 0;
      g[entries + e] = (float)slope;
    }
    total[m * total_stride] = (float)(losses[m * losses_stride] + part);
  }
  host.give();
  back.give();
}

void mille_slot_products(mille_run *run, const float *slots,
                         int64_t slots_stride, const float *row,
                         int64_t row_stride, int64_t columns,
                         const int32_t *place, int64_t k, float *out,
                         int64_t rows, int64_t out_stride) {
  mille::HostStep host(run, out, rows, out_stride);
  if (host.skipped())
    return;
  SlotProducts products = {slots, row,   slots_stride, row_stride, columns,
                           k,     place, rows,         out,        out_stride};
  mille::sessionOf(run).share(productBlock, &products, blocksOf(rows));
  host.give();
}

void mille_experts(mille_run *run, const int32_t *starts, int64_t entries,
                   int64_t rows, int32_t *out) {
  mille::HostStep host(run, out, rows, 1);
  if (host.skipped())
    return;
  for (int64_t e = 0; e < entries; ++e)
    for (int64_t p = starts[e]; p < starts[e + 1]; ++p)
      out[p] = (int32_t)e;
  host.give();
}
}

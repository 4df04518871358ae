// Linear attention with a running sum that outlives a run, token by token.
// Must give the same bits however tokens are cut into runs, for any threads.
#include "runtime/Backend.h"

#include <math.h>
#include <string.h>

namespace {
using mille::Sequences;

struct LinearAttention : mille::Recurrence {
  Sequences own;

  void runHead(int64_t sequence, int64_t head) const;
};

// sum = sum * exp(-decay) + k v^T; out = scale q sum: in this order for each
// token, so that bits do not depend on how tokens were cut into runs.
void LinearAttention::runHead(int64_t sequence, int64_t head) const {
  float *sum =
      entry + (sequence * heads + head) * headDim * valueDim; // [head, value]
  if (past[sequence] == 0)
    memset(sum, 0, headDim * valueDim * sizeof(float));
  const float kept = (float)exp(-(double)decay[head]);
  const int64_t kvHead = head / (heads / kvHeads);
  for (int64_t m = own.first(sequence), end = m + own.rows(sequence); m < end;
       ++m) {
    const float *q = query + m * queryStride + head * headDim,
                *k = key + m * keyStride + kvHead * headDim,
                *v = value + m * valueStride + kvHead * valueDim;
    const bool seen = !mask || mask[m];
    float *to = out + m * outStride + head * valueDim;
    memset(to, 0, valueDim * sizeof(float));
    for (int64_t i = 0; i < headDim; ++i) {
      float *row = sum + i * valueDim;
      const float of = seen ? k[i] : 0, by = q[i] * scale;
      for (int64_t j = 0; j < valueDim; ++j) {
        row[j] = row[j] * kept + (seen ? of * v[j] : 0.0f);
        to[j] += by * row[j];
      }
    }
  }
}

void linearHead(void *context, int64_t task, int) {
  const LinearAttention &a = *static_cast<const LinearAttention *>(context);
  a.runHead(task / a.heads, task % a.heads);
}
} // namespace

extern "C" {

void mille_linear_attention(mille_run *run, const float *query,
                            int64_t query_stride, const float *key,
                            int64_t key_stride, const float *value,
                            int64_t value_stride, const int32_t *mask,
                            const int32_t *numbers, double scale,
                            const float *decay, const int32_t *past,
                            float *entry, float *out, int64_t out_stride) {
  mille_session &session = mille::sessionOf(run);
  const mille::Recurrence whole = {
      query + numbers[4],
      key + numbers[5],
      value + numbers[6],
      query_stride,
      key_stride,
      value_stride,
      mask,
      numbers[0],
      numbers[1],
      numbers[2],
      numbers[3],
      (float)scale,
      decay,
      past,
      entry,
      out,
      out_stride,
      run->batch,
      run->tokens,
      (session.entry->padding_ends & MILLE_PADDING_AFTER) &&
          !session.keepPadding};
  if (mille::doneOnDevice(session, &mille_backend::recur, whole) ||
      session.planning)
    return;
  LinearAttention a = {whole, mille::sequencesOf(run, MILLE_RUN_TOKENS)};
  session.share(linearHead, &a, a.own.batch * a.heads);
}
}

// Schedules in double. Must keep no state between steps.
#include "runtime/train/Rate.h"

#include <math.h>

namespace mille {

double rateAt(const mille_training_info &training, int64_t step) {
  const double warmup = (double)training.warmup, peak = training.peak,
               end = training.end;
  if (step < training.warmup)
    return peak * (double)(step + 1) / warmup;
  double rest = (double)(training.steps - training.warmup);
  double done = rest > 0 ? ((double)step - warmup) / rest : 1;
  if (done > 1)
    done = 1;
  switch (training.schedule) {
  case MILLE_RATE_LINEAR:
    return peak + (end - peak) * done;
  case MILLE_RATE_COSINE:
    return end + (peak - end) * 0.5 * (1 + cos(M_PI * done));
  case MILLE_RATE_INVERSE_SQRT: {
    const double rate =
        peak * sqrt((warmup > 1 ? warmup : 1) / (double)(step + 1));
    return rate > end ? rate : end;
  }
  default:
    return peak;
  }
}

} // namespace mille

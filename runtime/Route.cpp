// Chooses the experts of each row, and sorts rows by expert.
// Must choose by the row alone: the same for any batch and any threads.
#include "runtime/Backend.h"

#include <math.h>
#include <string.h>

namespace {
constexpr int64_t rowsPerTask = 64;

struct Router : mille::Route {
  void routeRow(int64_t row) const;
  void scoresOf(const float *logits, double *scores) const;
  void hideGroups(double *choice) const;
  void weigh(const float *logits, const double *scores, const int32_t *chosen,
             float *into) const;
};

// exp(logit - largest) / their sum over `count` of the logits, at `index` or
// all.
void softmax(const float *logits, const int32_t *index, int32_t count,
             double *out) {
  double largest = -HUGE_VAL, sum = 0;
  for (int32_t i = 0; i < count; ++i)
    largest = fmax(largest, logits[index ? index[i] : i]);
  for (int32_t i = 0; i < count; ++i)
    sum += out[i] = exp(logits[index ? index[i] : i] - largest);
  for (int32_t i = 0; i < count; ++i)
    out[i] /= sum;
}

// The first of the largest, or `count` where all are -infinity or NaN.
int32_t largestOf(const double *values, int32_t count) {
  int32_t found = count;
  double largest = -HUGE_VAL;
  for (int32_t i = 0; i < count; ++i)
    if (values[i] > largest) {
      largest = values[i];
      found = i;
    }
  return found;
}

// Takes the largest number out of `values`, and returns its index. Where all
// that are left are -infinity or NaN, it takes the first that is not taken yet.
int32_t takeLargest(double *values, bool *taken, int32_t count) {
  int32_t found = largestOf(values, count);
  for (int32_t i = 0; found == count && i < count; ++i)
    if (!taken[i])
      found = i;
  taken[found] = true;
  values[found] = -HUGE_VAL;
  return found;
}

void Router::scoresOf(const float *row, double *scores) const {
  if (!sigmoid)
    return softmax(row, nullptr, entries, scores);
  for (int32_t e = 0; e < entries; ++e)
    scores[e] = 1 / (1 + exp(-(double)row[e]));
}

// Leaves -infinity in the groups that are not among the best.
void Router::hideGroups(double *choice) const {
  double best[MILLE_MOST_EXPERTS];
  bool kept[MILLE_MOST_EXPERTS] = {};
  int32_t size = entries / groups;
  for (int32_t g = 0; g < groups; ++g) {
    double first = -HUGE_VAL, second = -HUGE_VAL;
    for (int32_t e = g * size; e < (g + 1) * size; ++e)
      if (choice[e] > first) {
        second = first;
        first = choice[e];
      } else if (choice[e] > second) {
        second = choice[e];
      }
    best[g] = sumOfTwo && size > 1 ? first + second : first;
  }
  for (int32_t i = 0; i < topGroups; ++i)
    takeLargest(best, kept, groups);
  for (int32_t e = 0; e < entries; ++e)
    if (!kept[e / size])
      choice[e] = -HUGE_VAL;
}

void Router::weigh(const float *row, const double *scores,
                   const int32_t *chosen, float *into) const {
  double own[MILLE_MOST_EXPERTS], sum = epsilon;
  if (softmaxChosen)
    softmax(row, chosen, k, own);
  for (int32_t j = 0; j < k; ++j) {
    if (!softmaxChosen)
      own[j] = scores[chosen[j]];
    sum += own[j];
  }
  for (int32_t j = 0; j < k; ++j)
    into[j] = (float)((renormalised ? own[j] / sum : own[j]) * factor);
}

void Router::routeRow(int64_t m) const {
  double scores[MILLE_MOST_EXPERTS], choice[MILLE_MOST_EXPERTS];
  bool taken[MILLE_MOST_EXPERTS] = {};
  const float *row = logits + m * logitsStride;
  int32_t *chosen = place + m * k; // until they are sorted
  scoresOf(row, scores);
  for (int32_t e = 0; e < entries; ++e)
    choice[e] = scores[e] + (bias ? bias[e] : 0);
  if (groups > 1)
    hideGroups(choice);
  for (int32_t j = 0; j < k; ++j)
    chosen[j] = takeLargest(choice, taken, entries);
  weigh(row, scores, chosen, weights + m * weightsStride);
}

void routeBlock(void *context, int64_t task, int) {
  const Router &router = *static_cast<Router *>(context);
  int64_t end = (task + 1) * rowsPerTask;
  for (int64_t m = task * rowsPerTask; m < end && m < router.rows; ++m)
    router.routeRow(m);
}

// Turns experts into places by a counting sort, which keeps the order of
// equals.
void sortByExpert(const mille::Route &route) {
  const int64_t slots = route.slots();
  const int32_t k = route.k, entries = route.entries;
  int32_t *order = route.order, *place = route.place, *starts = route.starts;
  memset(starts, 0, (entries + 1) * sizeof(int32_t));
  for (int64_t s = 0; s < slots; ++s)
    ++starts[place[s] + 1];
  for (int32_t e = 0; e < entries; ++e)
    starts[e + 1] += starts[e];
  for (int64_t s = 0; s < slots; ++s) {
    int32_t at = starts[place[s]]++;
    order[at] = (int32_t)(s / k);
    place[s] = at;
  }
  // Each start has moved to the end of its expert, where the next one begins.
  memmove(starts + 1, starts, entries * sizeof(int32_t));
  starts[0] = 0;
}
} // namespace

static void see(mille_session &session, const mille::Route &route) {
  const mille_choice choice = {route.rows, route.logitsStride, route.entries,
                               route.k,    route.logits,       route.place};
  session.seeChoice(session.seeContext, &choice);
}

// The host has memory for all activations, where a device's are fetched to.
int32_t mille::tellChoice(mille_session &session, const Route &what,
                          uint64_t experts) {
  if (!session.seeChoice || !what.rows || session.stopped())
    return session.stopped();
  const mille_backend &backend = *session.part->device->backend;
  const int64_t numbers = (what.rows - 1) * what.logitsStride + what.entries;
  int32_t code = backend.fetch(session, what.logits, 0,
                               const_cast<float *>(what.logits), numbers * 4);
  if (!code)
    code =
        backend.fetch(session, nullptr, experts, what.place, what.slots() * 4);
  if (!code)
    see(session, what);
  return code;
}

extern "C" void mille_route(mille_run *run, const int32_t *n, double epsilon,
                            double factor, const float *logits,
                            int64_t logits_stride, const float *bias,
                            int64_t rows, float *weights,
                            int64_t weights_stride, int32_t *order,
                            int32_t *place, int32_t *starts) {
  mille_session &session = mille::sessionOf(run);
  mille::Route route = {n[0],           n[1],      n[2] == MILLE_SCORE_SIGMOID,
                        n[3],           n[4],      n[5] == MILLE_GROUP_SUM_TOP2,
                        n[6] != 0,      n[7] != 0, epsilon,
                        factor,         logits,    logits_stride,
                        bias,           rows,      weights,
                        weights_stride, order,     place,
                        starts};
  if (mille::doneOnDevice(session, &mille_backend::route, route))
    return;
  Router router = {route};
  session.share(routeBlock, &router, (rows + rowsPerTask - 1) / rowsPerTask);
  if (session.seeChoice && !session.stopped())
    see(session, route);
  sortByExpert(route);
}

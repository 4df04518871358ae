// Which experts each row goes to. Each row has a work-group of 32 items, which
// share its experts. Among equal scores the first is chosen; if only NaN are
// left, the first expert not yet taken.
#define ITEMS 32
#define EACH(i, end) for (int i = get_local_id(0); i < (end); i += ITEMS)
#define WAIT barrier(CLK_LOCAL_MEM_FENCE)
float of_sigmoid(const float x) {
  const float small = exp(-fabs(x));
  return (x < 0 ? small : 1.0f) / (1.0f + small);
}
// The score of a group of experts: its largest score, or the sum of its two
// largest.
float best_of(__local const float *choice, const int size, const int two) {
  float first = -INFINITY, second = -INFINITY;
  for (int e = 0; e < size; ++e)
    if (choice[e] > first) {
      second = first;
      first = choice[e];
    } else if (choice[e] > second) {
      second = choice[e];
    }
  return two && size > 1 ? first + second : first;
}
// One item does this alone, since there are few values.
void take_largest(__local float *values, __local int *taken, const int count) {
  int found = count, untaken = count;
  float largest = -INFINITY;
  for (int i = 0; i < count; ++i) {
    if (values[i] > largest) {
      largest = values[i];
      found = i;
    }
    if (!taken[i] && untaken == count)
      untaken = i;
  }
  found = found == count ? untaken : found;
  taken[found] = 1;
  values[found] = -INFINITY;
}
void weigh(__global const float *row, __local const float *scores,
           __global const int *chosen, const int k, const int renormalised,
           const int softmax_chosen, const float epsilon, const float factor,
           __global float *weights) {
  float largest = -INFINITY, all = 0.0f, sum = epsilon;
  for (int j = 0; j < k; ++j)
    largest = fmax(largest, row[chosen[j]]);
  for (int j = 0; j < k; ++j)
    all += exp(row[chosen[j]] - largest);
  for (int j = 0; j < k; ++j) {
    weights[j] = softmax_chosen ? exp(row[chosen[j]] - largest) / all
                                : scores[chosen[j]];
    sum += weights[j];
  }
  for (int j = 0; j < k; ++j)
    weights[j] = (renormalised ? weights[j] / sum : weights[j]) * factor;
}
__kernel void mille_route(
  __global const char *logits_object, const ulong logits_first,
  __global const char *bias_object, const ulong bias_first,
  __global char *experts_object, const ulong experts_first,
  __global char *weights_object, const ulong weights_first,
  const int logits_stride, const int weights_stride, const int entries,
  const int k, const int sigmoid, const int biased, const int groups,
  const int top_groups, const int sum_of_two, const int renormalised,
  const int softmax_chosen, const float epsilon, const float factor
#ifndef MOST_EXPERTS
  , __local float *scores, __local float *choice, __local float *best,
  __local int *taken
#endif
  ) {
#ifdef MOST_EXPERTS
  __local float scores[MOST_EXPERTS], choice[MOST_EXPERTS], best[MOST_EXPERTS];
  __local int taken[MOST_EXPERTS];
#endif
  __local float parts[ITEMS];
  __local int founds[ITEMS], untakens[ITEMS];
  const int m = get_group_id(0), item = get_local_id(0);
  __global const float *row = (__global const float *)
    (logits_object + logits_first) + (long)m * logits_stride;
  __global const float *bias =
    (__global const float *)(bias_object + bias_first);
  __global int *chosen =
    (__global int *)(experts_object + experts_first) + (long)m * k;
  __global float *weights = (__global float *)
    (weights_object + weights_first) + (long)m * weights_stride;
  float highest = -INFINITY, sum = 0.0f;
  EACH(e, entries) highest = fmax(highest, row[e]);
  parts[item] = highest;
  WAIT;
  for (int i = 0; i < ITEMS; ++i)
    highest = fmax(highest, parts[i]);
  WAIT;
  EACH(e, entries) sum += exp(row[e] - highest);
  parts[item] = sum;
  WAIT;
  sum = 0.0f;
  for (int i = 0; i < ITEMS; ++i)
    sum += parts[i];
  EACH(e, entries) {
    scores[e] = sigmoid ? of_sigmoid(row[e]) : exp(row[e] - highest) / sum;
    choice[e] = scores[e] + (biased ? bias[e] : 0.0f);
    taken[e] = 0;
  }
  WAIT;
  // A single group needs no choice of groups.
  const int size = entries / groups, hiding = groups > 1 ? groups : 0;
  EACH(g, hiding) best[g] = best_of(choice + g * size, size, sum_of_two);
  WAIT;
  if (item == 0 && hiding)
    for (int i = 0; i < top_groups; ++i)
      take_largest(best, taken, groups);
  WAIT;
  EACH(e, hiding ? entries : 0)
    choice[e] = taken[e / size] ? choice[e] : -INFINITY;
  WAIT;
  EACH(g, hiding) taken[g] = 0;
  WAIT;
  for (int j = 0; j < k; ++j) {
    float largest = -INFINITY;
    int found = entries, untaken = entries;
    EACH(e, entries) {
      if (choice[e] > largest) {
        largest = choice[e];
        found = e;
      }
      if (!taken[e] && untaken == entries)
        untaken = e;
    }
    parts[item] = largest;
    founds[item] = found;
    untakens[item] = untaken;
    WAIT;
    if (item == 0) {
      for (int i = 1; i < ITEMS; ++i) {
        if (parts[i] > largest || (parts[i] == largest && founds[i] < found)) {
          largest = parts[i];
          found = founds[i];
        }
        untaken = min(untaken, untakens[i]);
      }
      found = found == entries ? untaken : found;
      chosen[j] = found;
      taken[found] = 1;
      choice[found] = -INFINITY;
    }
    WAIT;
  }
  if (item == 0)
    weigh(row, scores, chosen, k, renormalised, softmax_chosen, epsilon, factor,
          weights);
}

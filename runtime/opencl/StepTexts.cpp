// The runtime's own steps in OpenCL C. A buffer is passed as a memory object
// and the offset of its first byte in it. Must sum in an order that does not
// depend on a run's sizes.
#include "runtime/opencl/Device.h"

namespace mille::opencl {
namespace {

#define PLACE "  __global const char *"
#define OUT_PLACE "  __global char *"

// Each item makes one element of the out.
constexpr char gatherText[] =
    "__kernel void mille_gather(\n" PLACE
    "input_object, const ulong input_first,\n" PLACE
    "index_object, const ulong index_first,\n" OUT_PLACE
    "out_object, const ulong out_first,\n"
    "  const int input_stride, const int columns, const int group,\n"
    "  const int per_sequence, const int tokens, const int out_stride) {\n"
    "  __global const float *input =\n"
    "    (__global const float *)(input_object + input_first);\n"
    "  __global const int *index = (__global const int *)(index_object + "
    "index_first);\n"
    "  __global float *out = (__global float *)(out_object + out_first);\n"
    "  const int n = get_global_id(0), m = get_global_id(1);\n"
    "  if (n >= group * columns)\n"
    "    return;\n"
    "  const int part = n / columns;\n"
    "  const int from = index[m % per_sequence * group + part];\n"
    "  const long row = (long)(m / per_sequence) * tokens + from;\n"
    "  out[(long)m * out_stride + n] =\n"
    "    from < 0 ? 0.0f : input[row * input_stride + n - part * columns];\n"
    "}\n";

// Compensated (Neumaier) sums: `lost` collects the rounding error of each
// addition, which makes them as exact as sums in double.
#define SUM                                                                    \
  "typedef struct { float sum, lost; } Sum;\n"                                 \
  "Sum plus(Sum s, const float x) {\n"                                         \
  "  const float next = s.sum + x;\n"                                          \
  "  s.lost += fabs(s.sum) >= fabs(x) ? s.sum - next + x : x - next + "        \
  "s.sum;\n"                                                                   \
  "  s.sum = next;\n"                                                          \
  "  return s;\n"                                                              \
  "}\n"                                                                        \
  "float of(const Sum s) { return isfinite(s.sum) ? s.sum + s.lost : s.sum; "  \
  "}\n"

// Each item makes one column of one sequence.
constexpr char meanText[] = SUM
    "__kernel void mille_mean(\n" PLACE
    "input_object, const ulong input_first,\n" PLACE
    "mask_object, const ulong mask_first,\n" OUT_PLACE
    "out_object, const ulong out_first,\n"
    "  const int masked, const int input_stride, const int columns,\n"
    "  const int tokens, const int first, const int out_stride) {\n"
    "  __global const float *input =\n"
    "    (__global const float *)(input_object + input_first);\n"
    "  __global const int *mask = (__global const int *)(mask_object + "
    "mask_first);\n"
    "  __global float *out = (__global float *)(out_object + out_first);\n"
    "  const int n = get_global_id(0), sequence = get_global_id(1);\n"
    "  if (n >= columns)\n"
    "    return;\n"
    "  Sum s = {0.0f, 0.0f};\n"
    "  int count = 0;\n"
    "  for (int t = first; t < tokens; ++t) {\n"
    "    const long row = (long)sequence * tokens + t;\n"
    "    if (masked && !mask[row])\n"
    "      continue;\n"
    "    s = plus(s, input[row * input_stride + n]);\n"
    "    ++count;\n"
    "  }\n"
    "  out[(long)sequence * out_stride + n] = count ? of(s) / count : 0.0f;\n"
    "}\n";

// Each item makes the similarity of one pair of rows.
constexpr char similarityText[] =
    SUM "__kernel void mille_similarity(\n" PLACE
        "left_object, const ulong left_first,\n" PLACE
        "right_object, const ulong right_first,\n" OUT_PLACE
        "out_object, const ulong out_first,\n"
        "  const int left_stride, const int right_stride, const int columns,\n"
        "  const int batch) {\n"
        "  __global const float *left =\n"
        "    (__global const float *)(left_object + left_first);\n"
        "  __global const float *right =\n"
        "    (__global const float *)(right_object + right_first);\n"
        "  __global float *out = (__global float *)(out_object + out_first);\n"
        "  const int j = get_global_id(0), i = get_global_id(1);\n"
        "  if (j >= batch)\n"
        "    return;\n"
        "  Sum s = {0.0f, 0.0f};\n"
        "  for (int c = 0; c < columns; ++c)\n"
        "    s = plus(s, left[(long)i * left_stride + c] *\n"
        "                right[(long)j * right_stride + c]);\n"
        "  out[(long)i * batch + j] = of(s);\n"
        "}\n";

// Each row has a work-group of 32 items, which share the row's experts. Among
// equal scores the first is chosen; if only NaN are left, the first expert not
// yet taken.
constexpr char routeText[] =
    "#define ITEMS 32\n"
    "#define EACH(i, end) for (int i = get_local_id(0); i < (end); i += "
    "ITEMS)\n"
    "#define WAIT barrier(CLK_LOCAL_MEM_FENCE)\n"
    "float of_sigmoid(const float x) {\n"
    "  const float small = exp(-fabs(x));\n"
    "  return (x < 0 ? small : 1.0f) / (1.0f + small);\n"
    "}\n"
    // The score of a group of experts: its largest score, or the sum of its two
    // largest.
    "float best_of(__local const float *choice, const int size, const int two) "
    "{\n"
    "  float first = -INFINITY, second = -INFINITY;\n"
    "  for (int e = 0; e < size; ++e)\n"
    "    if (choice[e] > first) {\n"
    "      second = first;\n"
    "      first = choice[e];\n"
    "    } else if (choice[e] > second) {\n"
    "      second = choice[e];\n"
    "    }\n"
    "  return two && size > 1 ? first + second : first;\n"
    "}\n"
    // One item does this alone, since there are few values.
    "void take_largest(__local float *values, __local int *taken, const int "
    "count) {\n"
    "  int found = count, untaken = count;\n"
    "  float largest = -INFINITY;\n"
    "  for (int i = 0; i < count; ++i) {\n"
    "    if (values[i] > largest) {\n"
    "      largest = values[i];\n"
    "      found = i;\n"
    "    }\n"
    "    if (!taken[i] && untaken == count)\n"
    "      untaken = i;\n"
    "  }\n"
    "  found = found == count ? untaken : found;\n"
    "  taken[found] = 1;\n"
    "  values[found] = -INFINITY;\n"
    "}\n"
    "void weigh(__global const float *row, __local const float *scores,\n"
    "           __global const int *chosen, const int k, const int "
    "renormalised,\n"
    "           const int softmax_chosen, const float epsilon, const float "
    "factor,\n"
    "           __global float *weights) {\n"
    "  float largest = -INFINITY, all = 0.0f, sum = epsilon;\n"
    "  for (int j = 0; j < k; ++j)\n"
    "    largest = fmax(largest, row[chosen[j]]);\n"
    "  for (int j = 0; j < k; ++j)\n"
    "    all += exp(row[chosen[j]] - largest);\n"
    "  for (int j = 0; j < k; ++j) {\n"
    "    weights[j] = softmax_chosen ? exp(row[chosen[j]] - largest) / all\n"
    "                                : scores[chosen[j]];\n"
    "    sum += weights[j];\n"
    "  }\n"
    "  for (int j = 0; j < k; ++j)\n"
    "    weights[j] = (renormalised ? weights[j] / sum : weights[j]) * "
    "factor;\n"
    "}\n"
    "__kernel void mille_route(\n" PLACE
    "logits_object, const ulong logits_first,\n" PLACE
    "bias_object, const ulong bias_first,\n" OUT_PLACE
    "experts_object, const ulong experts_first,\n" OUT_PLACE
    "weights_object, const ulong weights_first,\n"
    "  const int logits_stride, const int weights_stride, const int entries,\n"
    "  const int k, const int sigmoid, const int biased, const int groups,\n"
    "  const int top_groups, const int sum_of_two, const int renormalised,\n"
    "  const int softmax_chosen, const float epsilon, const float factor,\n"
    "  __local float *scores, __local float *choice, __local float *best,\n"
    "  __local int *taken) {\n"
    "  __local float parts[ITEMS];\n"
    "  __local int founds[ITEMS], untakens[ITEMS];\n"
    "  const int m = get_group_id(0), item = get_local_id(0);\n"
    "  __global const float *row = (__global const float *)\n"
    "    (logits_object + logits_first) + (long)m * logits_stride;\n"
    "  __global const float *bias =\n"
    "    (__global const float *)(bias_object + bias_first);\n"
    "  __global int *chosen =\n"
    "    (__global int *)(experts_object + experts_first) + (long)m * k;\n"
    "  __global float *weights = (__global float *)\n"
    "    (weights_object + weights_first) + (long)m * weights_stride;\n"
    "  float highest = -INFINITY, sum = 0.0f;\n"
    "  EACH(e, entries) highest = fmax(highest, row[e]);\n"
    "  parts[item] = highest;\n"
    "  WAIT;\n"
    "  for (int i = 0; i < ITEMS; ++i)\n"
    "    highest = fmax(highest, parts[i]);\n"
    "  WAIT;\n"
    "  EACH(e, entries) sum += exp(row[e] - highest);\n"
    "  parts[item] = sum;\n"
    "  WAIT;\n"
    "  sum = 0.0f;\n"
    "  for (int i = 0; i < ITEMS; ++i)\n"
    "    sum += parts[i];\n"
    "  EACH(e, entries) {\n"
    "    scores[e] = sigmoid ? of_sigmoid(row[e]) : exp(row[e] - highest) / "
    "sum;\n"
    "    choice[e] = scores[e] + (biased ? bias[e] : 0.0f);\n"
    "    taken[e] = 0;\n"
    "  }\n"
    "  WAIT;\n"
    // A single group needs no choice of groups.
    "  const int size = entries / groups, hiding = groups > 1 ? groups : 0;\n"
    "  EACH(g, hiding) best[g] = best_of(choice + g * size, size, "
    "sum_of_two);\n"
    "  WAIT;\n"
    "  if (item == 0 && hiding)\n"
    "    for (int i = 0; i < top_groups; ++i)\n"
    "      take_largest(best, taken, groups);\n"
    "  WAIT;\n"
    "  EACH(e, hiding ? entries : 0)\n"
    "    choice[e] = taken[e / size] ? choice[e] : -INFINITY;\n"
    "  WAIT;\n"
    "  EACH(g, hiding) taken[g] = 0;\n"
    "  WAIT;\n"
    "  for (int j = 0; j < k; ++j) {\n"
    "    float largest = -INFINITY;\n"
    "    int found = entries, untaken = entries;\n"
    "    EACH(e, entries) {\n"
    "      if (choice[e] > largest) {\n"
    "        largest = choice[e];\n"
    "        found = e;\n"
    "      }\n"
    "      if (!taken[e] && untaken == entries)\n"
    "        untaken = e;\n"
    "    }\n"
    "    parts[item] = largest;\n"
    "    founds[item] = found;\n"
    "    untakens[item] = untaken;\n"
    "    WAIT;\n"
    "    if (item == 0) {\n"
    "      for (int i = 1; i < ITEMS; ++i) {\n"
    "        if (parts[i] > largest || (parts[i] == largest && founds[i] < "
    "found)) {\n"
    "          largest = parts[i];\n"
    "          found = founds[i];\n"
    "        }\n"
    "        untaken = min(untaken, untakens[i]);\n"
    "      }\n"
    "      found = found == entries ? untaken : found;\n"
    "      chosen[j] = found;\n"
    "      taken[found] = 1;\n"
    "      choice[found] = -INFINITY;\n"
    "    }\n"
    "    WAIT;\n"
    "  }\n"
    "  if (item == 0)\n"
    "    weigh(row, scores, chosen, k, renormalised, softmax_chosen, epsilon, "
    "factor,\n"
    "          weights);\n"
    "}\n";

// A stable counting sort: each expert has a work-group of 64 items, and each
// item takes one contiguous part of the slots, so the slots of an expert keep
// their order.
constexpr char sortText[] =
    "#define ITEMS 64\n"
    "__kernel void mille_sort(\n" PLACE
    "experts_object, const ulong experts_first,\n" OUT_PLACE
    "order_object, const ulong order_first,\n" OUT_PLACE
    "place_object, const ulong place_first,\n" OUT_PLACE
    "starts_object, const ulong starts_first,\n"
    "  const int slots, const int k, const int entries) {\n"
    "  __local int before[ITEMS], own[ITEMS];\n"
    "  __global const int *experts =\n"
    "    (__global const int *)(experts_object + experts_first);\n"
    "  __global int *order = (__global int *)(order_object + order_first);\n"
    "  __global int *place = (__global int *)(place_object + place_first);\n"
    "  __global int *starts = (__global int *)(starts_object + starts_first);\n"
    "  const int expert = get_group_id(0), item = get_local_id(0);\n"
    "  const int each = (slots + ITEMS - 1) / ITEMS;\n"
    "  const int from = min(item * each, slots), end = min(from + each, "
    "slots);\n"
    "  int smaller = 0, equal = 0;\n"
    "  for (int s = from; s < end; ++s) {\n"
    "    smaller += experts[s] < expert;\n"
    "    equal += experts[s] == expert;\n"
    "  }\n"
    "  before[item] = smaller;\n"
    "  own[item] = equal;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  int at = 0;\n"
    "  for (int i = 0; i < ITEMS; ++i)\n"
    "    at += before[i];\n"
    "  if (item == 0)\n"
    "    starts[expert] = at;\n"
    "  if (item == 0 && expert + 1 == entries)\n"
    "    starts[entries] = slots;\n"
    "  for (int i = 0; i < item; ++i)\n"
    "    at += own[i];\n"
    "  for (int s = from; s < end; ++s)\n"
    "    if (experts[s] == expert) {\n"
    "      order[at] = s / k;\n"
    "      place[s] = at++;\n"
    "    }\n"
    "}\n";

struct Text {
  const char *name, *text;
};
constexpr Text texts[stepCount] = {{"mille_gather", gatherText},
                                   {"mille_mean", meanText},
                                   {"mille_similarity", similarityText},
                                   {"mille_route", routeText},
                                   {"mille_sort", sortText}};

} // namespace

const char *nameOf(Step step) { return texts[(int)step].name; }
const char *textOf(Step step) { return texts[(int)step].text; }

} // namespace mille::opencl

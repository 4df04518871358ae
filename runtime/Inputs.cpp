// Checks a run's tensors before anything runs, and fills in absent inputs.
// Must not change what the application gave.
#include "runtime/Session.h"

#include <stdio.h>
#include <string.h>

using ll = long long;

namespace {
// "input_ids[1, 17]"
void nameElement(const mille_tensor_info &info, const mille::Sizes &sizes,
                 uint64_t element, char *text, size_t size) {
  uint64_t index[4] = {};
  for (int d = (int)info.rank - 1; d >= 0; --d) {
    int64_t extent = sizes.of(info.shape[d]);
    index[d] = element % extent;
    element /= extent;
  }
  size_t used = snprintf(text, size, "%s[", info.name);
  for (uint32_t d = 0; d < info.rank && used < size; ++d)
    used += snprintf(text + used, size - used, d ? ", %llu" : "%llu",
                     (unsigned long long)index[d]);
  if (used < size)
    snprintf(text + used, size - used, "]");
}

// The first element outside [0, below), or count.
uint64_t firstOutside(const int32_t *values, uint64_t count, int64_t below) {
  for (uint64_t i = 0; i < count; ++i)
    if (values[i] < 0 || values[i] >= below)
      return i;
  return count;
}
} // namespace

mille_status mille_session::checkRun(const mille::Sizes &sizes,
                                     const void *const *given,
                                     float *const *outputs) {
  const mille_model &model = *package->model;
  mille_status status = mille::checkSizes(model, sizes, "", message);
  if (status != MILLE_OK)
    return status;
  for (int64_t extent : mille::runSizes)
    if (mille::hasSize(model, extent) && sizes.of(extent) > most.of(extent))
      return message.set(
          MILLE_TOO_LARGE, "%s is %lld but this session was created for %lld",
          mille::sizeName(extent), (ll)sizes.of(extent), (ll)most.of(extent));
  if (!given && model.input_count)
    return message.set(MILLE_INVALID_ARGUMENT, "inputs is null");
  if (!outputs && model.output_count)
    return message.set(MILLE_INVALID_ARGUMENT, "outputs is null");
  for (uint32_t i = 0; i < model.output_count; ++i)
    if (!outputs[i])
      return message.set(MILLE_INVALID_ARGUMENT,
                         "output %s is null but every output is written",
                         model.outputs[i].name);
  for (uint32_t i = 0; i < model.input_count; ++i) {
    const mille_tensor_info &info = model.inputs[i];
    if (!given[i] && info.fallback == MILLE_REQUIRED)
      return message.set(MILLE_INVALID_INPUT,
                         "input %s is null but has no default", info.name);
    if (!given[i] && info.fallback == MILLE_DEFAULT_POSITIONS && info.below &&
        info.shape[1] < 0 && sizes.of(info.shape[1]) > info.below)
      return message.set(MILLE_TOO_LARGE,
                         "input %s is null and %s %lld, but its values must be "
                         "below %lld",
                         info.name, mille::sizeName(info.shape[1]),
                         (ll)sizes.of(info.shape[1]), (ll)info.below);
    if (!given[i] || info.type != MILLE_I32 || !info.below)
      continue;
    uint64_t count = 0;
    mille::countElements(info, sizes, count);
    auto *values = static_cast<const int32_t *>(given[i]);
    uint64_t wrong = firstOutside(values, count, info.below);
    if (wrong == count)
      continue;
    char element[128];
    nameElement(info, sizes, wrong, element, sizeof element);
    return message.set(MILLE_INVALID_INPUT,
                       "%s is %d but must be at least 0 and below %lld",
                       element, values[wrong], (ll)info.below);
  }
  return MILLE_OK;
}

void mille_session::fillDefaults() {
  const mille_model &model = *package->model;
  for (uint32_t i = 0; i < model.input_count; ++i) {
    const mille_tensor_info &info = model.inputs[i];
    if (info.fallback == MILLE_REQUIRED)
      continue;
    int32_t value = info.fallback == MILLE_DEFAULT_ONES   ? 1
                    : info.fallback == MILLE_DEFAULT_LAST ? INT32_MAX
                                                          : 0;
    float real = (float)value;
    if (info.type == MILLE_F32)
      memcpy(&value, &real, sizeof value);
    uint64_t count = 0;
    mille::countElements(info, most, count);
    auto *words = static_cast<int32_t *>(defaults[i]);
    for (uint64_t e = 0; e < count; ++e)
      words[e] = value;
  }
}

void mille_session::takeInputs(const mille::Sizes &sizes,
                               const void *const *given) {
  const mille_model &model = *package->model;
  for (uint32_t i = 0; i < model.input_count; ++i) {
    // mille_run's inputs are not const, but kernels only read them.
    inputs[i] = given[i] ? const_cast<void *>(given[i]) : defaults[i];
    if (given[i] || model.inputs[i].fallback != MILLE_DEFAULT_POSITIONS)
      continue;
    auto *positions = static_cast<int32_t *>(defaults[i]); // [batch, tokens]
    int64_t tokens = sizes.of(model.inputs[i].shape[1]);
    for (int64_t b = 0; b < sizes.batch; ++b)
      for (int64_t t = 0; t < tokens; ++t)
        positions[b * tokens + t] = (int32_t)t;
  }
}

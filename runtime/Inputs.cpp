// Checks a run's tensors before anything runs, and fills in absent inputs.
// Must not change what the application gave.
#include "runtime/Backend.h"
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
    int64_t extent = sizes.extent(info.shape[d]);
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

// The first element outside [least, below), or count.
uint64_t firstOutside(const int32_t *values, uint64_t count, int64_t least,
                      int64_t below) {
  for (uint64_t i = 0; i < count; ++i)
    if (values[i] < least || values[i] >= below)
      return i;
  return count;
}
} // namespace

// The sizes that the entry has are given, and within the session's.
mille_status mille_session::checkSizes() {
  const mille_model &model = *package->model;
  for (uint32_t size = 0; size < model.size_count; ++size) {
    const char *name = model.sizes[size].name;
    const bool has = mille::hasSize(model, *entry, size);
    if (!has && !mille::keepsSize(model, *entry, size))
      continue;
    if (!most.of[size])
      return message.set(MILLE_TOO_LARGE,
                         "entry %s has %s but this session was created "
                         "without it",
                         entry->name, name);
    if (!sizes.of[size])
      return message.set(MILLE_INVALID_ARGUMENT,
                         "%s is not given but entry %s has it", name,
                         entry->name);
    if (has && sizes.of[size] > most.of[size]) // else of the session itself
      return message.set(MILLE_TOO_LARGE,
                         "%s is %lld but this session was created for %lld",
                         name, (ll)sizes.of[size], (ll)most.of[size]);
    const int64_t multiple = model.sizes[size].multiple;
    if (has && multiple > 1 && sizes.of[size] % multiple)
      return message.set(MILLE_INVALID_ARGUMENT,
                         "%s is %lld but must be a multiple of %lld", name,
                         (ll)sizes.of[size], (ll)multiple);
  }
  return MILLE_OK;
}

// The rows of the states that the run's tokens go to. Where `past` counts those
// of some states, another input counts those of the others.
static int64_t roomOf(const mille_model &model, const mille_entry &entry,
                      const mille::Sizes &most) {
  auto isCounted = [&](int64_t size) {
    for (uint32_t i = 0; i < entry.input_count; ++i)
      if (entry.inputs[i].below == size)
        return true;
    return false;
  };
  for (uint32_t s = 0; s < model.state_count; ++s) {
    const int64_t rows = model.states[s].shape[2];
    if (mille::usesState(entry, s) && rows < 0 && !isCounted(rows))
      return most.extent(rows);
  }
  return INT64_MAX;
}

// Checks that the states have room for the tokens that they hold and the run's
// tokens after these. Padding at the end of a sequence needs no room.
mille_status mille_session::checkPast(const void *const *given) {
  if (!entry->states)
    return MILLE_OK;
  const int64_t room = roomOf(*package->model, *entry, most);
  auto *past = entry->past_input == MILLE_NO_INPUT
                   ? nullptr
                   : static_cast<const int32_t *>(given[entry->past_input]);
  auto *mask = entry->padding_ends & MILLE_PADDING_AFTER && !keepPadding
                   ? static_cast<const int32_t *>(given[entry->mask_input])
                   : nullptr;
  for (int64_t s = 0; s < run.batch; ++s) {
    int64_t held = past ? past[s] : 0, tokens = run.tokens;
    while (mask && tokens > 1 && !mask[s * run.tokens + tokens - 1])
      --tokens;
    if (held < 0)
      return message.set(
          MILLE_INVALID_INPUT, "%s[%lld] is %lld but must be at least 0",
          entry->inputs[entry->past_input].name, (ll)s, (ll)held);
    if (held > room - tokens)
      return message.set(MILLE_TOO_LARGE,
                         "sequence %lld has %lld tokens and %lld new ones but "
                         "this session was created for %lld",
                         (ll)s, (ll)held, (ll)tokens, (ll)room);
    if (mille_status status = checkWindow(s, held); status != MILLE_OK)
      return status;
  }
  return MILLE_OK;
}

// Rows that windows have dropped are not read again.
mille_status mille_session::checkWindow(int64_t sequence, int64_t past) {
  if (past == 0 || !windows.reach)
    return MILLE_OK;
  const int64_t least = windows.leastPast(sequence);
  const int32_t first = windows.first[sequence];
  if (past > first + windows.rows || first < 0 || first % MILLE_PANEL_ROWS)
    return message.set(MILLE_INVALID_INPUT,
                       "%s[%lld] is %lld but layers with windows hold %lld "
                       "tokens of this sequence from token %d on",
                       entry->inputs[entry->past_input].name, (ll)sequence,
                       (ll)past, (ll)windows.rows, first);
  if (past >= least)
    return MILLE_OK;
  return message.set(MILLE_INVALID_INPUT,
                     "%s[%lld] is %lld but layers with windows hold this "
                     "sequence from token %d on: it must be 0 or at least %lld",
                     entry->inputs[entry->past_input].name, (ll)sequence,
                     (ll)past, first, (ll)least);
}

mille_status mille_session::checkRun(const void *const *given,
                                     float *const *outputs) {
  mille_status status = checkSizes();
  if (status != MILLE_OK)
    return status;
  if (!given && entry->input_count)
    return message.set(MILLE_INVALID_ARGUMENT, "inputs is null");
  if (!outputs && entry->output_count)
    return message.set(MILLE_INVALID_ARGUMENT, "outputs is null");
  for (uint32_t i = 0; i < entry->output_count; ++i)
    if (!outputs[i])
      return message.set(MILLE_INVALID_ARGUMENT,
                         "output %s is null but every output is written",
                         entry->outputs[i].name);
  for (uint32_t i = 0; i < entry->input_count; ++i)
    if ((status = checkInput(entry->inputs[i], given[i])) != MILLE_OK)
      return status;
  return checkPast(given);
}

mille_status mille_session::checkInput(const mille_tensor_info &info,
                                       const void *given) {
  if (!given && info.fallback == MILLE_REQUIRED)
    return message.set(MILLE_INVALID_INPUT,
                       "input %s is null but has no default", info.name);
  if (!given && info.fallback == MILLE_DEFAULT_POSITIONS && info.below &&
      info.shape[1] < 0 && sizes.extent(info.shape[1]) > info.below)
    return message.set(MILLE_TOO_LARGE,
                       "input %s is null and %s %lld, but its values must be "
                       "below %lld",
                       info.name, package->model->sizes[~info.shape[1]].name,
                       (ll)sizes.extent(info.shape[1]), (ll)info.below);
  if (given && part && part->device->backend->holds &&
      part->device->backend->holds(*this, given))
    return message.set(MILLE_INVALID_ARGUMENT,
                       "input %s is in a device's memory but the host reads "
                       "inputs: give a copy in the host's",
                       info.name);
  if (!given || info.type != MILLE_I32 || !info.below)
    return MILLE_OK;
  uint64_t count = 0;
  mille::countElements(info, sizes, count);
  auto *values = static_cast<const int32_t *>(given);
  const int64_t below =
      info.below < 0 ? most.extent(info.below) + 1 : info.below;
  uint64_t wrong = firstOutside(values, count, info.least, below);
  if (wrong == count)
    return MILLE_OK;
  char element[128];
  nameElement(info, sizes, wrong, element, sizeof element);
  return message.set(MILLE_INVALID_INPUT,
                     "%s is %d but must be at least %u and below %lld", element,
                     values[wrong], info.least, (ll)below);
}

// The constant defaults of an entry's inputs.
static void fillDefaults(const mille_entry &entry, const mille::Sizes &most,
                         void *const *defaults) {
  for (uint32_t i = 0; i < entry.input_count; ++i) {
    const mille_tensor_info &info = entry.inputs[i];
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

void mille_session::fillDefaults() {
  const mille_model &model = *package->model;
  for (uint32_t e = 0; e < model.entry_count; ++e)
    if (entries[e].usable)
      ::fillDefaults(model.entries[e], most, entries[e].defaults);
}

void mille_session::takeInputs(const void *const *given) {
  for (uint32_t i = 0; i < entry->input_count; ++i) {
    // mille_run's inputs are not const, but kernels only read them.
    inputs[i] = given[i] ? const_cast<void *>(given[i]) : memory->defaults[i];
    if (given[i] || entry->inputs[i].fallback != MILLE_DEFAULT_POSITIONS)
      continue;
    auto *positions = static_cast<int32_t *>(inputs[i]); // [batch, tokens]
    int64_t tokens = sizes.extent(entry->inputs[i].shape[1]);
    for (int64_t b = 0; b < run.batch; ++b)
      for (int64_t t = 0; t < tokens; ++t)
        positions[b * tokens + t] = (int32_t)t;
  }
}

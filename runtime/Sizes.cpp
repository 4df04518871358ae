// Shapes with a run's sizes in them, every product checked.
// Must not look at data.
#include "runtime/Sizes.h"

#include <stdio.h>
#include <string.h>

namespace mille {

namespace {
bool names(const mille_tensor_info *infos, uint32_t count, uint32_t size) {
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t d = 0; d < infos[i].rank; ++d)
      if (infos[i].shape[d] == ~(int64_t)size)
        return true;
  return false;
}
} // namespace

bool hasSize(const mille_model &model, const mille_entry &entry,
             uint32_t size) {
  return size == batchSize || names(entry.inputs, entry.input_count, size) ||
         names(entry.outputs, entry.output_count, size) ||
         (!isGivenSize(model, size) &&
          names(entry.inputs, entry.input_count, model.sizes[size].from[0]));
}

bool deriveSizes(const mille_model &model, Sizes &sizes, uint32_t &wrong) {
  for (uint32_t size = 0; size < model.size_count; ++size) {
    const mille_size_info &info = model.sizes[size];
    if (isGivenSize(model, size))
      continue;
    uint64_t product = (uint64_t)info.each;
    bool absent = false;
    for (int side = 0; side < 2; ++side) {
      wrong = info.from[side];
      const int64_t given = sizes.of[wrong];
      absent = absent || given == 0;
      if (given == 0)
        continue;
      const int64_t whole = given / info.step[side];
      const int64_t count = whole + (info.up && given % info.step[side]);
      if (given < model.sizes[wrong].least ||
          !multiply(product, (uint64_t)count, product) || product > INT32_MAX)
        return false;
    }
    sizes.of[size] = absent ? 0 : info.prefix + (int64_t)product;
  }
  return true;
}

namespace {
// Whether another size follows from this one: no buffer has such rows.
bool isSide(const mille_model &model, uint32_t size) {
  for (uint32_t i = 0; i < model.size_count; ++i)
    if (!isGivenSize(model, i) &&
        (model.sizes[i].from[0] == size || model.sizes[i].from[1] == size))
      return true;
  return false;
}
} // namespace

bool usesState(const mille_entry &entry, uint32_t state) {
  return entry.states >> state & 1;
}

bool keepsSize(const mille_model &model, const mille_entry &entry,
               uint32_t size) {
  for (uint32_t s = 0; s < model.state_count; ++s)
    if (usesState(entry, s) && names(model.states + s, 1, size))
      return true;
  return false;
}

bool isGiven(const mille_model &model, const mille_entry &entry,
             const Sizes &sizes, uint32_t &missing) {
  for (missing = 0; missing < model.size_count; ++missing)
    if (!sizes.of[missing] &&
        (hasSize(model, entry, missing) || keepsSize(model, entry, missing)))
      return false;
  return true;
}

namespace {
// Why a side of an image has no number of patches.
mille_status wrongSide(const mille_model &model, const Sizes &sizes,
                       uint32_t wrong, const char *prefix, Message &message) {
  const int64_t least = model.sizes[wrong].least;
  const char *name = model.sizes[wrong].name;
  const long long value = sizes.of[wrong];
  if (value < least)
    return message.set(MILLE_INVALID_ARGUMENT,
                       "%s%s is %lld but must be at least %lld", prefix, name,
                       value, (long long)least);
  return message.set(MILLE_TOO_LARGE,
                     "%s%s is %lld but an image has at most %d patches", prefix,
                     name, value, INT32_MAX);
}
} // namespace

mille_status takeSizes(const mille_model &model, const mille_size *given,
                       size_t count, const char *prefix, Sizes &sizes,
                       Message &message) {
  sizes = Sizes();
  if (!given && count)
    return message.set(MILLE_INVALID_ARGUMENT, "sizes is null");
  for (size_t i = 0; i < count; ++i) {
    const char *name = given[i].name;
    if (!name)
      return message.set(MILLE_INVALID_ARGUMENT, "size %zu has no name", i);
    uint32_t size = 0;
    while (size < model.size_count && strcmp(model.sizes[size].name, name) != 0)
      ++size;
    if (size == model.size_count)
      return message.set(MILLE_INVALID_ARGUMENT,
                         "model %s has no size '%s'; its sizes are %s",
                         model.name, name, SizeNames(model).text);
    if (!isGivenSize(model, size))
      return message.set(MILLE_INVALID_ARGUMENT,
                         "%s%s is given but follows from %s and %s", prefix,
                         name, model.sizes[model.sizes[size].from[0]].name,
                         model.sizes[model.sizes[size].from[1]].name);
    if (sizes.of[size])
      return message.set(MILLE_INVALID_ARGUMENT, "%s%s is given twice", prefix,
                         name);
    if (given[i].value < 1)
      return message.set(MILLE_INVALID_ARGUMENT,
                         "%s%s is %lld but must be at least 1", prefix, name,
                         (long long)given[i].value);
    sizes.of[size] = given[i].value;
  }
  uint32_t wrong = 0;
  if (deriveSizes(model, sizes, wrong))
    return MILLE_OK;
  return wrongSide(model, sizes, wrong, prefix, message);
}

SizesText::SizesText(const mille_model &model, const Sizes &sizes) {
  size_t used = 0;
  text[0] = 0;
  for (uint32_t size = 0; size < model.size_count && used < sizeof text; ++size)
    if (sizes.of[size])
      used += snprintf(text + used, sizeof text - used, "%s%s %lld",
                       used ? ", " : "", model.sizes[size].name,
                       (long long)sizes.of[size]);
}

SizeNames::SizeNames(const mille_model &model) {
  size_t used = 0;
  for (uint32_t size = 0; size < model.size_count && used < sizeof text; ++size)
    used += snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "",
                     model.sizes[size].name);
}

bool countElements(const mille_tensor_info &info, const Sizes &sizes,
                   uint64_t &elements) {
  elements = 1;
  for (uint32_t d = 0; d < info.rank; ++d)
    if (!multiply(elements, (uint64_t)sizes.extent(info.shape[d]), elements))
      return false;
  return true;
}

uint64_t longestSequence(const mille_model &model, const mille_entry &entry,
                         const Sizes &sizes, bool withStates) {
  uint64_t longest = entry.fixed_tokens > 1 ? entry.fixed_tokens : 1;
  for (uint32_t size = 0; size < model.size_count; ++size) {
    bool keeps = withStates && keepsSize(model, entry, size);
    if (size == batchSize || isSide(model, size) ||
        (!keeps && !hasSize(model, entry, size)))
      continue;
    uint64_t rows = keeps ? wholePanels(sizes.of[size]) : sizes.of[size];
    longest = rows > longest ? rows : longest;
  }
  return longest;
}

bool paddedRows(const mille_model &model, const mille_entry &entry,
                const Sizes &sizes, uint64_t &rows) {
  // Kernels count rows, and slots of rows, in 32 bits.
  uint64_t slots = 0,
           longest = longestSequence(model, entry, sizes, entry.state_rows);
  bool fits = multiply((uint64_t)sizes.batch(), longest, rows) &&
              multiply(rows, entry.slots ? entry.slots : 1, slots) &&
              slots < INT32_MAX - 64;
  rows = fits ? (rows + 23) / 16 * 16 : 0;
  return fits;
}

} // namespace mille

// Shapes with a run's sizes in them, every product checked.
// Must not look at data.
#include "runtime/Sizes.h"

#include <stdio.h>

namespace mille {

namespace {
bool names(const mille_tensor_info *infos, uint32_t count, int64_t extent) {
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t d = 0; d < infos[i].rank; ++d)
      if (infos[i].shape[d] == extent)
        return true;
  return false;
}
} // namespace

int64_t Sizes::of(int64_t extent) const {
  return extent == MILLE_BATCH            ? batch
         : extent == MILLE_TOKENS         ? tokens
         : extent == MILLE_DECODER_TOKENS ? decoderTokens
                                          : extent;
}

const char *sizeName(int64_t extent) {
  return extent == MILLE_BATCH    ? "batch"
         : extent == MILLE_TOKENS ? "tokens"
                                  : "decoder_tokens";
}

bool hasSize(const mille_model &model, int64_t extent) {
  return extent == MILLE_BATCH ||
         names(model.inputs, model.input_count, extent) ||
         names(model.outputs, model.output_count, extent);
}

mille_status checkSizes(const mille_model &model, const Sizes &sizes,
                        const char *prefix, Message &message) {
  for (int64_t extent : runSizes)
    if (hasSize(model, extent) && sizes.of(extent) < 1)
      return message.set(MILLE_INVALID_ARGUMENT,
                         "%s%s is %lld but must be at least 1", prefix,
                         sizeName(extent), (long long)sizes.of(extent));
  return MILLE_OK;
}

SizesText::SizesText(const mille_model &model, const Sizes &sizes) {
  size_t used = 0;
  for (int64_t extent : runSizes)
    if (hasSize(model, extent) && used < sizeof text)
      used += snprintf(text + used, sizeof text - used, "%s%s %lld",
                       used ? ", " : "", sizeName(extent),
                       (long long)sizes.of(extent));
}

bool countElements(const mille_tensor_info &info, const Sizes &sizes,
                   uint64_t &elements) {
  elements = 1;
  for (uint32_t d = 0; d < info.rank; ++d)
    if (!multiply(elements, (uint64_t)sizes.of(info.shape[d]), elements))
      return false;
  return true;
}

uint64_t longestSequence(const mille_model &model, const Sizes &sizes) {
  uint64_t longest = model.fixed_tokens > 1 ? model.fixed_tokens : 1;
  for (int64_t extent : runSizes)
    if (extent != MILLE_BATCH && hasSize(model, extent) &&
        (uint64_t)sizes.of(extent) > longest)
      longest = (uint64_t)sizes.of(extent);
  return longest;
}

bool paddedRows(const mille_model &model, const Sizes &sizes, uint64_t &rows) {
  // Kernels count rows, and slots of rows, in 32 bits.
  uint64_t slots = 0;
  bool fits =
      multiply((uint64_t)sizes.batch, longestSequence(model, sizes), rows) &&
      multiply(rows, model.slots ? model.slots : 1, slots) &&
      slots < INT32_MAX - 64;
  rows = fits ? (rows + 23) / 16 * 16 : 0;
  return fits;
}

} // namespace mille

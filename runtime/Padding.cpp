// Removes padding from a run and puts it back. Must not change numbers: rows
// move.
#include "runtime/Padding.h"

#include <string.h>

namespace mille {

namespace {
struct Ends {
  int64_t first, end; // tokens between them are computed
};

// The ends of a sequence without padding. Where the mask shows no token all
// tokens are kept, because they define the results of such a sequence.
Ends endsOf(const int32_t *mask, int64_t tokens, uint32_t ends) {
  int64_t first = 0, end = tokens;
  while (first < tokens && !mask[first])
    ++first;
  if (first == tokens)
    return {0, tokens};
  while (!mask[end - 1])
    --end;
  return {ends & MILLE_PADDING_BEFORE ? first : 0,
          ends & MILLE_PADDING_AFTER ? end : tokens};
}

// The product of dimensions first .. end - 1.
int64_t extentOf(const mille_tensor_info &info, uint32_t first, uint32_t end) {
  int64_t numbers = 1;
  for (uint32_t d = first; d < end; ++d)
    numbers *= info.shape[d];
  return numbers;
}
// The smallest number of rows whose removal before a sequence leaves keys in
// the groups in which kernels add them up.
int64_t unitOf(const mille_model &model) {
  int64_t unit = 1;
  for (uint32_t k = 0; k < model.kernel_count; ++k) {
    int64_t each = model.kernels[k]->key_unit, step = unit;
    while (each && unit % each)
      unit += step;
  }
  return unit;
}
} // namespace

int tokenDimension(const mille_model &model, const mille_tensor_info &info) {
  if (model.token_size == MILLE_NO_SIZE)
    return -1;
  for (uint32_t d = 1; d < info.rank; ++d)
    if (info.shape[d] == ~(int64_t)model.token_size &&
        info.shape[d - 1] == ~(int64_t)batchSize)
      return (int)d;
  return -1;
}

int64_t Sequences::longest() const {
  int64_t most = 0;
  for (int64_t s = 0; s < batch; ++s)
    most = rows(s) > most ? rows(s) : most;
  return most;
}

void Padding::layOut(const mille_model &of, const mille_entry &in,
                     const Sizes &most, char *slab, Bytes &sum) {
  model = &of;
  entry = &in;
  if (!entry->padding_ends)
    return;
  auto at = [&](uint64_t offset) { return slab ? slab + offset : nullptr; };
  starts = (int32_t *)at(sum.place(most.batch() + 1, sizeof(int32_t)));
  removed = (int32_t *)at(sum.place(most.batch(), sizeof(int32_t)));
  firsts = (int32_t *)at(sum.place(most.batch(), sizeof(int32_t)));
  unit = unitOf(*model);
  gathered = (void **)at(sum.place(entry->input_count, sizeof(void *)));
  whole = (const void **)at(sum.place(entry->input_count, sizeof(void *)));
  for (uint32_t i = 0; i < entry->input_count; ++i) {
    uint64_t elements = 0;
    bool rows = tokenDimension(*model, entry->inputs[i]) >= 0;
    if (rows)
      sum.fits = sum.fits && countElements(entry->inputs[i], most, elements);
    char *own = rows ? at(sum.place(elements, 4)) : nullptr;
    if (slab)
      gathered[i] = own;
  }
}

int64_t Padding::remove(const Sizes &sizes, bool kept, void **inputs) {
  const int64_t batch = sizes.batch(), tokens = sizes.tokens(*model);
  int64_t all = batch * tokens, rows = 0;
  found = false;
  if (!entry->padding_ends || kept)
    return all;
  auto *mask = static_cast<const int32_t *>(inputs[entry->mask_input]);
  for (int64_t s = 0; s < batch; ++s) {
    Ends ends = endsOf(mask + s * tokens, tokens, entry->padding_ends);
    starts[s] = (int32_t)rows;
    firsts[s] = (int32_t)ends.first;
    removed[s] = (int32_t)(ends.first / unit * unit);
    rows += ends.end - removed[s];
  }
  starts[batch] = (int32_t)rows;
  if (rows == all)
    return all;
  found = true;
  for (uint32_t i = 0; i < entry->input_count; ++i) {
    whole[i] = inputs[i];
    if (!gathered[i])
      continue;
    const mille_tensor_info &info = entry->inputs[i];
    int64_t bytes =
        4 * extentOf(info, tokenDimension(*model, info) + 1, info.rank);
    for (int64_t s = 0; s < batch; ++s)
      memcpy((char *)gathered[i] + starts[s] * bytes,
             (const char *)whole[i] + (s * tokens + removed[s]) * bytes,
             (starts[s + 1] - starts[s]) * bytes);
    inputs[i] = gathered[i];
  }
  return rows;
}

// Works from the last row to the first: no row moves towards the start.
void Padding::putBack(const Sizes &sizes, float *const *outputs) const {
  const int64_t batch = sizes.batch(), most = sizes.tokens(*model);
  for (uint32_t i = 0; found && i < entry->output_count; ++i) {
    const mille_tensor_info &info = entry->outputs[i];
    int tokens = tokenDimension(*model, info);
    if (tokens < 0)
      continue;
    int64_t columns = extentOf(info, tokens + 1, info.rank);
    int64_t entries = extentOf(info, 0, tokens - 1);
    int64_t entryRows = batch * most;
    for (int64_t e = 0; e < entries; ++e) {
      float *numbers = outputs[i] + e * entryRows * columns;
      for (int64_t s = batch - 1, end = entryRows; s >= 0; --s) {
        int64_t from = starts[s] + firsts[s] - removed[s];
        int64_t rows = starts[s + 1] - from;
        int64_t to = s * most + firsts[s];
        memmove(numbers + to * columns, numbers + from * columns,
                rows * columns * sizeof(float));
        memset(numbers + (to + rows) * columns, 0,
               (end - to - rows) * columns * sizeof(float));
        end = to;
        if (s == 0)
          memset(numbers, 0, to * columns * sizeof(float));
      }
    }
  }
}

const int32_t *Padding::wholeOf(void *const *inputs,
                                const int32_t *input) const {
  for (uint32_t i = 0; found && i < entry->input_count; ++i)
    if (inputs[i] == input)
      return static_cast<const int32_t *>(whole[i]);
  return input;
}

} // namespace mille

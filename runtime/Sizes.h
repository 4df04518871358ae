// The shapes of a run by its sizes, and the sizes that an entry has.
// Pure arithmetic; must not overflow in silence.
#pragma once
#include "runtime/Memory.h"
#include "runtime/StatePanels.h"
#include "runtime/abi.h"

namespace mille {

constexpr uint32_t batchSize = 0; // every model's first size

// A number for each size of a model, in the model's order; 0: not given.
struct Sizes {
  int64_t of[MILLE_MAX_SIZES] = {};

  int64_t batch() const { return of[batchSize]; }
  // The size of which padding may be removed.
  int64_t tokens(const mille_model &model) const {
    return model.token_size == MILLE_NO_SIZE ? 0 : of[model.token_size];
  }
  // One number of a tensor_info's shape.
  int64_t extent(int64_t word) const { return word < 0 ? of[~word] : word; }
};

// Whether the application gives a size; others follow from sizes.
inline bool isGivenSize(const mille_model &model, uint32_t size) {
  return model.sizes[size].step[0] == 0;
}
// Whether a size is in a shape of the entry's inputs or outputs, or follows
// from sizes that are. Every entry has a batch.
bool hasSize(const mille_model &model, const mille_entry &entry, uint32_t size);
// Whether a size is in a shape of the entry's states.
bool keepsSize(const mille_model &model, const mille_entry &entry,
               uint32_t size);
bool usesState(const mille_entry &entry, uint32_t state);
// Whether all sizes of an entry are given; else `missing` is the first that is
// not.
bool isGiven(const mille_model &model, const mille_entry &entry,
             const Sizes &sizes, uint32_t &missing);

// Sets the sizes that follow from given ones: 0 where these are 0. False, and
// the number of a size that is less than a step, or whose product is too large.
bool deriveSizes(const mille_model &model, Sizes &sizes, uint32_t &wrong);

// Takes an application's list. `prefix` begins the words of messages.
mille_status takeSizes(const mille_model &model, const mille_size *given,
                       size_t count, const char *prefix, Sizes &sizes,
                       Message &message);
// "batch 2, tokens 17": those that are given.
struct SizesText {
  SizesText(const mille_model &model, const Sizes &sizes);
  char text[256];
};
// "batch, tokens": the names of all.
struct SizeNames {
  explicit SizeNames(const mille_model &model);
  char text[256];
};

// The rows of a state that has room for so many.
inline int64_t wholePanels(int64_t rows) {
  return (rows + MILLE_PANEL_ROWS - 1) / MILLE_PANEL_ROWS * MILLE_PANEL_ROWS;
}

// Elements of a tensor of a run.
bool countElements(const mille_tensor_info &info, const Sizes &sizes,
                   uint64_t &elements);
// Rows of one sequence in the largest of a run's buffers; with states those of
// the states too.
uint64_t longestSequence(const mille_model &model, const mille_entry &entry,
                         const Sizes &sizes, bool withStates);
// Rows that a kernel.arena offset is multiplied by. False: too many.
bool paddedRows(const mille_model &model, const mille_entry &entry,
                const Sizes &sizes, uint64_t &rows);

} // namespace mille

// The weights: a file, mapped or read into memory, or embedded in the object;
// checked before use. Must not read at a place that is not checked.
#pragma once
#include "runtime/Memory.h"
#include "runtime/abi.h"

namespace mille {

struct Weights {
  const char *data = nullptr;      // header first
  const uint64_t *table = nullptr; // the file's table
  const char *tensors = nullptr;   // mille_run.weights
  uint64_t bytes = 0;

  // path null: embedded. Leaves nothing open when it fails.
  mille_status open(const mille_model &model, const char *path,
                    const mille_options &options, const Memory &memory,
                    Message &message);
  void close(const Memory &memory);
  uint64_t tensorBytes() const { return bytes - (uint64_t)(tensors - data); }
  // These bytes of a mapped file are not read soon: their memory is free until
  // then.
  void forget(const char *from, uint64_t count) const;

private:
  enum class Origin { object, mapped, copied };
  Origin origin = Origin::object;

  mille_status openFile(const char *path, const mille_options &options,
                        const Memory &memory, Message &message);
  mille_status map(int file, const char *path, Message &message);
  mille_status copy(int file, const char *path, const Memory &memory,
                    Message &message);
};

// Of weights behind the file's, which trainers draw.
inline uint64_t drawnBytes(const mille_model &model) {
  return model.training ? model.training->drawn_bytes : 0;
}

// Everything that can be said against a weights file without reading its
// tensors, and, where asked for, its hash.
mille_status checkWeights(const mille_model &model, const Weights &weights,
                          const char *path, bool verifyHash, Message &message);

// of(entry, bytes) for each entry of the table at whose place the code reads so
// many bytes; false at the first of which it says so. Bodies' numbers must have
// been checked.
template <typename Of>
bool eachPlace(const mille_model &model, const uint64_t *table, Of of) {
  for (uint64_t i = 0; i < model.place_count; ++i)
    if (!of(i, model.place_bytes[i]))
      return false;
  for (uint64_t s = 0; s < model.stack_count; ++s) {
    const mille_stack_info &stack = model.stacks[s];
    for (uint64_t layer = 0; layer < stack.layers; ++layer) {
      const uint64_t row = stack.first_entry + layer * stack.row_entries;
      const uint64_t width = stack.row_entries - 1;
      const uint64_t *bytes = stack.bytes + table[row] * width;
      for (uint64_t e = 0; e < width; ++e)
        if (bytes[e] && !of(row + 1 + e, bytes[e]))
          return false;
    }
  }
  return true;
}

} // namespace mille

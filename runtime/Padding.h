// Finds rows of padding, removes them from a run's inputs, and puts them back
// into its outputs. Must leave every other row as the application sees it.
#pragma once
#include "runtime/Sizes.h"

namespace mille {

// The rows of a row space, sequence by sequence.
struct Sequences {
  int64_t batch = 1;  // sequences
  int64_t tokens = 0; // tokens of each, with padding
  // Where padding was removed: [batch + 1] first rows, and [batch] rows that
  // were removed before them. Null: no padding was removed.
  const int32_t *starts = nullptr, *removed = nullptr;

  int64_t first(int64_t sequence) const {
    return starts ? starts[sequence] : sequence * tokens;
  }
  int64_t rows(int64_t sequence) const {
    return starts ? starts[sequence + 1] - starts[sequence] : tokens;
  }
  int64_t before(int64_t sequence) const {
    return starts ? removed[sequence] : 0;
  }
  // The row of a token, counted as the application counts tokens.
  int64_t rowOf(int64_t sequence, int64_t token) const {
    return first(sequence) + token - before(sequence);
  }
  int64_t longest() const;
};

// The dimension of tokens, which follows that of the batch; -1: there is none.
int tokenDimension(const mille_model &model, const mille_tensor_info &info);

// A session's memory for this of an entry, large enough for its largest run.
struct Padding {
  const mille_model *model = nullptr;
  const mille_entry *entry = nullptr;
  int32_t *starts = nullptr, *removed = nullptr; // [batch + 1], [batch]
  int32_t *firsts = nullptr;    // [batch]: the first token that is no padding
  void **gathered = nullptr;    // [inputs], null: no row per token
  const void **whole = nullptr; // [inputs] of this run
  int64_t unit = 1;   // rows are removed before tokens in such multiples
  bool found = false; // this run has padding

  void layOut(const mille_model &of, const mille_entry &in, const Sizes &most,
              char *slab, Bytes &sum);
  // Reads the mask and removes padding from the inputs, unless `kept`: the
  // application wants it computed. Returns the number of rows that are left.
  int64_t remove(const Sizes &sizes, bool kept, void **inputs);
  // Moves the rows of outputs to their places, and writes 0 between them.
  void putBack(const Sizes &sizes, float *const *outputs) const;
  // The rows of an entry of an output, of which the program writes `rows`.
  int64_t entryRows(int32_t output, const mille_run &run, int64_t rows) const {
    return found && tokenDimension(*model, entry->outputs[output]) >= 0
               ? run.batch * run.tokens
               : rows;
  }
  // An input as it was before padding was removed.
  const int32_t *wholeOf(void *const *inputs, const int32_t *input) const;
};

} // namespace mille

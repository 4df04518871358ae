// Rows of padding: which they are, and inputs and outputs without them.
// Must leave every other row as the application sees it.
#pragma once
#include "runtime/Sizes.h"

namespace mille {

// The rows of a row space, sequence by sequence.
struct Sequences {
  int64_t batch = 1;  // sequences
  int64_t tokens = 0; // of each, with its padding
  // Where padding was removed: [batch + 1] first rows, and [batch] rows removed
  // before the first one. Null: all have their tokens.
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
  // Where a token of the application's sequence is.
  int64_t rowOf(int64_t sequence, int64_t token) const {
    return first(sequence) + token - before(sequence);
  }
  int64_t longest() const;
};

// Dimension of the tokens, after that of the batch; -1: no row per token.
int tokenDimension(const mille_tensor_info &info);

// What a session keeps of it: memory for its largest run.
struct Padding {
  int32_t *starts = nullptr, *removed = nullptr; // [batch + 1], [batch]
  int32_t *firsts = nullptr;    // [batch]: tokens from here on are no padding
  void **gathered = nullptr;    // [inputs], null: no row per token
  const void **whole = nullptr; // [inputs] of this run
  int64_t unit = 1;             // rows removed before tokens
  bool kept = false;            // asked for by the application
  bool found = false;           // in this run

  void layOut(const mille_model &model, const Sizes &most, char *slab,
              Bytes &sum);
  // Looks at the mask, and takes padding out of the inputs. Gives the rows
  // left.
  int64_t remove(const mille_model &model, const Sizes &sizes, void **inputs);
  // Moves the rows of outputs to their places; 0 in those between.
  void putBack(const mille_model &model, const Sizes &sizes,
               float *const *outputs) const;
  // Rows of an entry of an output, of which `rows` are written.
  int64_t entryRows(const mille_model &model, int32_t output,
                    const mille_run &run, int64_t rows) const {
    return found && tokenDimension(model.outputs[output]) >= 0
               ? run.batch * run.tokens
               : rows;
  }
  // An input as it was before padding was taken out.
  const int32_t *wholeOf(const mille_model &model, void *const *inputs,
                         const int32_t *input) const;
};

} // namespace mille

// The steps that the runtime computes itself, as plain descriptions for the CPU
// or a device, in the words of abi.h. Must not compute.
#pragma once
#include "runtime/abi.h"

namespace mille {

// Rows of tokens, `group` of them side by side: windows, patches.
struct Gather {
  const float *input; // [sequences * tokens, parts * columns]
  int64_t inputStride, columns, tokens;
  const int32_t *index;        // [count], -1: zeros; constant
  int64_t count, group, parts; // parts: 1 on a device, which trains nothing
  float *out;                  // [sequences * count / group, group * columns]
  int64_t outStride, sequences;

  int64_t perSequence() const { return count / group; } // rows of the out
  int64_t rows() const { return sequences * perSequence(); }
};

// The mean of each sequence's rows from `first` on that the mask does not hide.
struct Mean {
  const float *input; // [sequences * tokens, columns]
  int64_t inputStride, columns;
  const int32_t *mask; // [sequences * tokens], or null
  int64_t sequences, tokens, first;
  float *out; // [sequences, columns]
  int64_t outStride;
};

struct Similarity {
  const float *left, *right; // [batch, columns]
  int64_t leftStride, rightStride, columns, batch;
  float *out; // [batch, batch]
};

// Which experts each row goes to, and its slots sorted by expert.
struct Route {
  int32_t entries, k;
  bool sigmoid; // else softmax
  int32_t groups, topGroups;
  bool sumOfTwo; // a group's score: of its two largest, else the largest
  bool renormalised, softmaxChosen;
  double epsilon, factor;
  const float *logits; // [rows, entries]
  int64_t logitsStride;
  const float *bias; // [entries], or null
  int64_t rows;
  float *weights; // [rows, k]
  int64_t weightsStride;
  int32_t *order, *place; // [rows, k]
  int32_t *starts;        // [entries + 1]

  int64_t slots() const { return rows * k; }
};

// Each sequence's rows of the run go behind those that its state holds; what
// the state has no room for is dropped. Strides in bytes.
struct Remember {
  const void *input;
  int64_t inputStride, rowBytes;
  const int32_t *past; // [sequences], null: behind none
  int64_t sequences, tokens, stateRows;
  void *entry; // [sequences, stateRows]

  int64_t rows() const { return sequences * tokens; }
  // Whether other rows go where these do in another state.
  bool isBeside(const Remember &other) const {
    return past == other.past && sequences == other.sequences &&
           tokens == other.tokens && stateRows == other.stateRows;
  }
  // The bytes that an item copies at a time.
  int64_t unit() const {
    const int64_t all = rowBytes | inputStride;
    return all % 16 == 0 ? 16 : all % 4 == 0 ? 4 : 2;
  }
};

// Linear attention, token by token, with a sum for each sequence and head.
struct Recurrence {
  const float *query, *key, *value; // from each one's first column on
  int64_t queryStride, keyStride, valueStride;
  const int32_t *mask; // [rows], or null
  int64_t heads, kvHeads, headDim, valueDim;
  float scale;
  const float *decay; // [heads]
  const int32_t *past;
  float *entry, *out;
  int64_t outStride, sequences, tokens;
  // Hidden tokens at a sequence's end are padding that was not removed: they
  // leave its sum as it is.
  bool ends;
};

} // namespace mille

// A case of attention's backward pass, and its name in messages.
#pragma once
#include "test/compiler/halide/Inputs/Hostile.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace mille::test {

struct Case {
  int64_t heads, kvHeads, headDim, valueDim;
  bool causal = false, masked = false;
  double softcap = 0;
  int64_t left = 0, right = 0;      // window
  int64_t chunk = 0, distances = 0; // columns of a bias, 0: none
  bool sloped = false, byKey = false, sink = false, segmented = false;
  char spoilt = 0; // q, k, v or g: what is hostile; 0: nothing
  Hostile kind = Hostile::zeros;

  // A loss of what is no number is none either, so its gradients may all be so:
  // 0 times a value that a query does not see is.
  bool spreads() const {
    return spoilt && (kind == Hostile::oneNaN || kind == Hostile::oneInfinity);
  }

  int64_t pairs = 0;      // the tokens of a bias by pair instead, 0: none
  int64_t keyColumns = 0; // of the bias by key, whose gradient is asked for
  int64_t most = 0;       // keys of a run, 0: no bound
  bool narrow = false;    // query, key, value and gradient are bf16

  bool tabled() const { return distances || pairs; }
  // The columns of the table of biases for a head, and of its gradient.
  int64_t tableWidth() const {
    return pairs ? pairs * pairs : std::max<int64_t>(distances, 1);
  }
  int64_t biasWidth() const { return pairs ? pairs : distances; }
};

inline std::string text(int64_t number) { return std::to_string(number); }
inline int64_t strideOf(int64_t columns) {
  return (columns + 15) / 16 * 16 + 16;
}

inline std::string nameOf(const Case &c) {
  return text(c.heads) + " heads of " + text(c.kvHeads) + ", " +
         text(c.headDim) + " and " + text(c.valueDim) +
         (c.causal ? ", causal" : "") + (c.masked ? ", masked" : "") +
         (c.softcap > 0 ? ", capped" : "") +
         (c.left + c.right > 0 ? ", window" : "") + (c.chunk ? ", chunk" : "") +
         (c.distances ? ", bias" : "") + (c.sloped ? ", slopes" : "") +
         (c.pairs ? ", bias of pairs" : "") +
         (c.byKey ? ", bias of keys" : "") +
         (c.keyColumns ? " in " + text(c.keyColumns) : "") +
         (c.most ? ", at most " + text(c.most) + " keys" : "") +
         (c.narrow ? ", bf16" : "") + (c.sink ? ", sink" : "") +
         (c.segmented ? ", segments" : "") +
         (c.spoilt ? std::string(", ") + wordOf(c.kind) + " " + c.spoilt : "") +
         ": ";
}

} // namespace mille::test

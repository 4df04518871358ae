// Draws the next id of a sequence from its logits.
// Must not keep anything between two draws.
#pragma once
#include "generation/Generation.h"

namespace mille::generation {

// The candidates of a draw, in an array that the generation owns.
struct Candidates {
  Candidate *list;
  int64_t count;

  // The likeliest `most` of them, likeliest first; of equal ones the lowest id.
  void keepLikeliest(int64_t most);
  // Weights of a softmax at this temperature: the largest is 1. They must be in
  // order.
  void weigh(double temperature);
  // The first ones that have `share` of all weights.
  void keepShare(double share);
  // Those whose surprise is nearest to the expected one, until they have
  // `share` of all weights; in order again.
  void keepTypical(double share);
  void keepOver(double weight);
  int32_t
  at(double share) const; // who has this share of all weights, in [0, 1)
};

// A number in [0, 1) of a seed and a counter.
double drawnNumber(uint64_t seed, uint64_t counter);

// Checks that every number is in its range (else MILLE_INVALID_ARGUMENT).
Status checkSampling(mille_generation &made, const mille_sampling &sampling);

// Draws the id that follows `sequence`, whose logits are known.
Status draw(mille_generation &made, const Sequence &sequence,
            const mille_sampling &sampling, int32_t &id);

} // namespace mille::generation

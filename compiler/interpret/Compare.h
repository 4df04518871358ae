// How far two sets of tensors are apart. Must not know where they come from.
#pragma once
#include "compiler/interpret/Interpret.h"

namespace mille {

// One tensor against its expected one.
struct Difference {
  std::string name;
  double maxError = 0;        // max |got - expected|; infinite where one is not
                              // finite and the other differs
  double maxExpected = 0;     // max |expected|
  double relative = 0;        // maxError / maxExpected, 0 where both are 0
  double cosine = 1;          // of the two as vectors; 0 where one alone is 0
  std::vector<int64_t> where; // the index of maxError
  double got = 0, expected = 0; // there
  int64_t compared = 0;         // numbers that counted
};

// Every tensor of `expected` against that of `got`, by name. Where the run's
// inputs have the mask [batch, tokens] of a stream (attention_mask; beside an
// encoder, decoder_attention_mask but for what begins with "encoder_"), tensors
// [batch, tokens, ...] count only where it is not 0, and [entries, batch,
// tokens, ...] ("hidden_states") too. A tensor missing in `got`, or of another
// shape, is an error at `location`, and so is nothing to compare: no tensor, or
// none of its numbers.
Status compare(const Values &got, const Values &expected, const Values &inputs,
               mlir::Location location, std::vector<Difference> &differences);

// What ops keep, "hidden_states" [entries, batch, tokens, channels], as
// hidden_states.0, hidden_states.1, ... No other output has rank 4.
void splitEntries(Values &values);
// And back: entries 0, 1, ... of one shape as one value.
void joinEntries(Values &values);

} // namespace mille

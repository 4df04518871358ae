// A generation: a session's memory seen as sequences of ids.
// Must not know how a token is chosen.
#pragma once
#include "generation/mille_generation.h"

namespace mille::generation {
struct Place {};
} // namespace mille::generation
inline void *operator new(size_t, mille::generation::Place,
                          void *memory) noexcept {
  return memory;
}

namespace mille::generation {

using Status = mille_status;
using ll = long long;

// The number of an input or output that the package does not have.
constexpr size_t absent = SIZE_MAX;

// An output of an entry that continues sequences. Of a token it holds `parts`
// rows of `width` numbers: one row of logits, one of each layer's hidden state.
struct Output {
  const char *name = nullptr;
  int64_t parts = 1, width = 1;
  bool everyRow = false; // of every token, not of each sequence's last
  int64_t numbers() const { return parts * width; }
};

// An entry that continues sequences, and the numbers of its inputs and outputs.
struct Entry {
  bool there = false;
  size_t number = 0, inputs = 0, outputs = 0;
  size_t ids = absent, past = absent, mask = absent, logits = absent;
  size_t sourceTokens = absent; // of a decoder beside an encoder
  bool everyRow = false;        // logits of every token: `extend`
  Output *results = nullptr;    // its outputs
  float **rows = nullptr; // of each output, for a run of the most sequences
  float **own = nullptr;  // those of them that are not the session's
};

// The entry that encodes a source and remembers it.
struct Encoder {
  bool there = false;
  size_t number = 0, inputs = 0, outputs = 0;
  size_t ids = absent, values = absent; // one of them
  int64_t below = 0;                    // of ids
  int64_t elements = 0;                 // of values
  int64_t tokens = 0;                   // that values have; 0: each id is one
  float **rows = nullptr;               // of each output
  const void **pointers = nullptr;      // of each input
};

// Bytes of a state that go to a file at once.
constexpr size_t bufferBytes = 1 << 16;

// One state of the package.
struct State {
  size_t bytes = 0;    // of one sequence, all entries
  bool tokens = false; // it has a row for each token
  size_t kept = 0;     // where one without lies among kept ones
};

// A sequence. ids[0, held) were appended, and ids[held, held + guessed) are
// guesses after them. The states hold ids[0, ran). What outputs say is kept of
// `rows` ids from `firstRow` on.
struct Sequence {
  bool open = false;
  int32_t *ids = nullptr;
  int64_t held = 0, guessed = 0, ran = 0;
  int64_t source = 0; // tokens of an encoder that states hold; 0: none
  int64_t firstRow = 0, rows = 0;
  float **kept = nullptr; // of each output, [guesses + 1, numbers of a token]
  // Whose outputs still hold what is known, one row, in place of `kept`.
  const Entry *lender = nullptr;

  bool knowsOutputs() const {
    return held > 0 && held <= ran && held - 1 >= firstRow &&
           held - 1 < firstRow + rows;
  }
  // Drops states and outputs after the first `most` ids.
  void forget(int64_t most) {
    ran = most < ran ? most : ran;
    const int64_t left = ran > firstRow ? ran - firstRow : 0;
    rows = left < rows ? left : rows;
  }
};

struct Candidate {
  double logit, weight, order;
  int32_t id;
};

// The inputs of a step, with a number or a row for each sequence.
struct StepInputs {
  int32_t *ids = nullptr, *mask = nullptr, *past = nullptr, *source = nullptr;
  int64_t *counts = nullptr; // tokens of each
  const void **pointers = nullptr;
};

// An id that may follow a beam.
struct Following {
  double score; // of all its ids
  int32_t beam, id;
};

// The most beams, ids that end one, and ids of a step that are looked at.
constexpr int64_t mostBeams = 8, mostEnds = 64;
constexpr int64_t mostFollowing = (mostEnds + 1) * mostBeams;

// A beam that has ended.
struct Ended {
  int32_t *ids = nullptr;
  int64_t count = 0;
  double score = 0;
};

struct BeamMemory {
  Ended ended[mostBeams]; // the best first
  Following following[mostFollowing];
};

} // namespace mille::generation

struct mille_generation {
  mille_generation_runtime runtime;
  mille_generation_options options;
  mille_package *package = nullptr;
  mille_session *session = nullptr;
  const char *name = nullptr; // the model's
  uint64_t hash = 0;
  int64_t vocabulary = 0;
  const mille::generation::Output *outputs = nullptr; // those of each entry
  size_t outputCount = 0, logits = 0;   // how many, and which has the logits
  mille::generation::Entry last, every; // `next` and `extend`
  mille::generation::Encoder encoder;   // `source`
  mille::generation::State *states = nullptr;
  size_t stateCount = 0;
  bool sums = false; // a state has no row for each token: it cannot go back
  mille::generation::Sequence *sequences = nullptr;
  mille::generation::StepInputs step;
  mille::generation::Candidate *candidates = nullptr; // [vocabulary]
  mille::generation::BeamMemory *beams = nullptr;
  int32_t *counts = nullptr; // [vocabulary], zeros between two draws
  char *buffer = nullptr;    // bytes of a state on their way to a file
  char *kept = nullptr;      // states without tokens of sequences that rest
  size_t keptBytes = 0;      // of a sequence
  size_t ownBytes = 0;       // of all that is allocated here
  int32_t cancelled = 0;
  char message[512] = "";

  mille_status say(mille_status status, const char *format, ...)
      __attribute__((format(printf, 3, 4)));
  // Null after an error: no such sequence is open.
  mille::generation::Sequence *find(int64_t sequence, mille_status &status);
  mille_status runtimeSays(mille_status status);
  // What an output says of id `firstRow` + `row` of a sequence.
  float *rowOf(const mille::generation::Sequence &sequence, size_t output,
               int64_t row) const {
    const int64_t numbers = outputs[output].numbers();
    return sequence.lender ? sequence.lender->rows[output] +
                                 (&sequence - sequences) * numbers
                           : sequence.kept[output] + row * numbers;
  }
  // What an output says of the last id of a sequence that knows its outputs.
  float *lastOf(const mille::generation::Sequence &sequence,
                size_t output) const {
    return rowOf(sequence, output, sequence.held - 1 - sequence.firstRow);
  }
  const float *lastLogits(const mille::generation::Sequence &sequence) const {
    return lastOf(sequence, logits);
  }
  // The most tokens of a sequence in a run of this entry.
  int64_t pieceOf(const mille::generation::Entry &entry) const {
    return entry.everyRow && last.there ? options.guesses + 1 : options.piece;
  }
};

namespace mille::generation {

// Runs what is pending of all sequences (see mille_generation_decode).
Status decode(mille_generation &made);
// Copies the states of a sequence's first `length` ids to another sequence.
Status copySequence(mille_generation &made, int64_t from, int64_t to,
                    int64_t length);
// Sequences of the session beside those of the options.
inline int64_t spareSequences(const mille_generation &made) {
  return made.encoder.there && made.options.sequences > 1;
}
// The logarithm of the sum of all exp(logit).
double logSum(const float *logits, int64_t count);
// Drops all ids after the first `length`, which is at most the number held.
void rewind(mille_generation &made, Sequence &sequence, int64_t length);
// A sequence that is not open; null if all are.
Sequence *closedSequence(mille_generation &made, int64_t &number);

} // namespace mille::generation

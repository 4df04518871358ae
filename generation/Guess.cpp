// Guesses the next ids: an application's guesses, the ids that followed the
// same ids before, or those of a smaller model. Must not decide what is drawn.
#include "generation/Generation.h"

namespace mille::generation {

namespace {

constexpr int64_t longestGram = 4;

// Guesses run beside tokens that have to run. If there are none, the guesses
// that have run are still in use.
bool wantsGuesses(const Sequence &sequence) {
  return sequence.ran < sequence.held;
}

// The guesses of a sequence that wants them, taken anew.
class Guesses {
public:
  Guesses(mille_generation &made, Sequence &sequence)
      : made(made), sequence(sequence) {
    sequence.guessed = 0;
  }

  int64_t room() const {
    const int64_t free = made.options.context - sequence.held;
    return made.options.guesses < free ? made.options.guesses : free;
  }
  bool add(int32_t id) {
    if (sequence.guessed >= room())
      return false;
    sequence.ids[sequence.held + sequence.guessed++] = id;
    return true;
  }

private:
  mille_generation &made;
  Sequence &sequence;
};

// The position after the latest earlier occurrence of the last `gram` ids; -1
// if there is none.
int64_t behindSame(const Sequence &sequence, int64_t gram) {
  const int32_t *last = sequence.ids + sequence.held - gram;
  for (int64_t at = sequence.held - gram; at-- > 0;) {
    int64_t same = 0;
    while (same < gram && sequence.ids[at + same] == last[same])
      ++same;
    if (same == gram)
      return at + gram;
  }
  return -1;
}

int64_t guessNgram(mille_generation &made, Sequence &sequence) {
  if (!wantsGuesses(sequence))
    return 0;
  Guesses guesses(made, sequence);
  for (int64_t gram = longestGram; gram > 0; --gram) {
    if (gram >= sequence.held)
      continue;
    int64_t at = behindSame(sequence, gram);
    if (at < 0)
      continue;
    while (at < sequence.held + sequence.guessed &&
           guesses.add(sequence.ids[at]))
      ++at;
    return sequence.guessed;
  }
  return 0;
}

Status draftSays(mille_generation &made, const mille_generation &drafts,
                 Status status) {
  return made.say(status, "the draft model: %s", drafts.message);
}

Status guessDraft(mille_generation &made, Sequence &sequence,
                  mille_generation &drafts, int64_t draft) {
  // A draft whose context is full guesses no more.
  if (!wantsGuesses(sequence) || sequence.held > drafts.options.context)
    return MILLE_OK;
  Guesses guesses(made, sequence);
  Status status = mille_sequence_follow(&drafts, draft, sequence.ids,
                                        (size_t)sequence.held, nullptr);
  if (status)
    return draftSays(made, drafts, status);
  mille_sampling sampling = MILLE_SAMPLING_INIT;
  sampling.temperature = 0;
  while (sequence.guessed < guesses.room() &&
         drafts.sequences[draft].held < drafts.options.context) {
    int32_t id = 0;
    if ((status = decode(drafts)) ||
        (status = mille_sequence_sample(&drafts, draft, &sampling, &id)) ||
        (status = mille_sequence_append(&drafts, draft, &id, 1)))
      return draftSays(made, drafts, status);
    guesses.add(id);
  }
  return MILLE_OK;
}

} // namespace
} // namespace mille::generation

using namespace mille::generation;

extern "C" {

mille_status mille_sequence_guess(mille_generation *generation,
                                  int64_t sequence, const int32_t *ids,
                                  size_t count) {
  mille_status status = MILLE_INVALID_ARGUMENT;
  Sequence *found = generation ? generation->find(sequence, status) : nullptr;
  if (!found || (!ids && count))
    return status;
  for (size_t i = 0; i < count; ++i)
    if (ids[i] < 0 || ids[i] >= generation->vocabulary)
      return generation->say(MILLE_INVALID_INPUT,
                             "guess %zu is id %d but the vocabulary of model "
                             "%s has %lld ids",
                             i, ids[i], generation->name,
                             (ll)generation->vocabulary);
  if (!wantsGuesses(*found))
    return MILLE_OK;
  Guesses guesses(*generation, *found);
  for (size_t i = 0; i < count && guesses.add(ids[i]); ++i) {
  }
  return MILLE_OK;
}

mille_status mille_sequence_guess_ngram(mille_generation *generation,
                                        int64_t sequence, size_t *count) {
  mille_status status = MILLE_INVALID_ARGUMENT;
  Sequence *found = generation ? generation->find(sequence, status) : nullptr;
  if (!found)
    return status;
  const int64_t guessed = guessNgram(*generation, *found);
  if (count)
    *count = (size_t)guessed;
  return MILLE_OK;
}

mille_status mille_sequence_guess_draft(mille_generation *generation,
                                        int64_t sequence,
                                        mille_generation *drafts, int64_t draft,
                                        size_t *count) {
  mille_status status = MILLE_INVALID_ARGUMENT;
  Sequence *found = generation ? generation->find(sequence, status) : nullptr;
  if (!found || !drafts)
    return status;
  if (drafts == generation)
    return generation->say(MILLE_INVALID_ARGUMENT,
                           "drafts is the generation itself");
  if (!drafts->find(draft, status))
    return draftSays(*generation, *drafts, status);
  if (drafts->vocabulary != generation->vocabulary)
    return generation->say(MILLE_INVALID_ARGUMENT,
                           "the vocabulary of draft model %s has %lld ids but "
                           "that of model %s has %lld",
                           drafts->name, (ll)drafts->vocabulary,
                           generation->name, (ll)generation->vocabulary);
  const bool wants = wantsGuesses(*found);
  status = guessDraft(*generation, *found, *drafts, draft);
  if (count)
    *count = wants ? (size_t)found->guessed : 0;
  return status;
}
}

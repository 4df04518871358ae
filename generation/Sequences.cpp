// Opens, extends, rewinds, forks and closes sequences. Must not run anything:
// the ids that they hold decide what runs later.
#include "generation/Generation.h"

#include <string.h>

namespace mille::generation {

Sequence *closedSequence(mille_generation &made, int64_t &number) {
  for (number = 0; number < made.options.sequences; ++number)
    if (!made.sequences[number].open)
      return &made.sequences[number];
  made.say(MILLE_TOO_LARGE, "all %lld sequences are open",
           (ll)made.options.sequences);
  return nullptr;
}

// Where states have dropped rows that the next run would read, all ids run
// again.
static void forgetTo(mille_generation &made, Sequence &sequence, int64_t most) {
  int64_t least = 1;
  if (most > 0 && made.runtime.session_least_past(
                      made.session, &sequence - made.sequences, &least))
    least = 1; // a runtime that drops none does not know the question
  sequence.forget(most < least ? 0 : most);
}

void rewind(mille_generation &made, Sequence &sequence, int64_t length) {
  // Running sums cannot go back.
  forgetTo(made, sequence, made.sums && length < sequence.ran ? 0 : length);
  sequence.held = length;
  sequence.guessed = 0;
  // Where nothing is kept of the last id it runs again.
  if (length > 0 && sequence.ran == length && !sequence.knowsOutputs())
    forgetTo(made, sequence, made.sums ? 0 : length - 1);
}

static void append(Sequence &sequence, int32_t id) {
  if (sequence.guessed > 0 && sequence.ids[sequence.held] == id) {
    ++sequence.held;
    --sequence.guessed;
    return;
  }
  sequence.guessed = 0;
  sequence.forget(sequence.held); // guesses that were wrong
  sequence.ids[sequence.held++] = id;
}

static Status checkIds(mille_generation &made, const int32_t *ids,
                       size_t count) {
  if (!ids && count)
    return made.say(MILLE_INVALID_ARGUMENT, "ids is null");
  for (size_t i = 0; i < count; ++i)
    if (ids[i] < 0 || ids[i] >= made.vocabulary)
      return made.say(MILLE_INVALID_INPUT,
                      "id %d of place %zu is not in the vocabulary of model "
                      "%s, which has %lld ids",
                      ids[i], i, made.name, (ll)made.vocabulary);
  return MILLE_OK;
}

static Status checkRoom(mille_generation &made, int64_t held, size_t count) {
  if (count <= (size_t)(made.options.context - held))
    return MILLE_OK;
  return made.say(MILLE_TOO_LARGE,
                  "the sequence would hold %lld tokens but there is room for "
                  "%lld",
                  (ll)(held + (int64_t)count), (ll)made.options.context);
}

Status copySequence(mille_generation &made, int64_t from, int64_t to,
                    int64_t length) {
  const Sequence &source = made.sequences[from];
  Sequence &copy = made.sequences[to];
  int64_t ran = length < source.ran ? length : source.ran;
  if (made.sums && ran != source.ran)
    ran = 0;
  const Status status =
      ran || source.source
          ? made.runtime.session_copy_states(made.session, from, to)
          : MILLE_OK;
  if (status)
    return made.runtimeSays(status);
  memcpy(copy.ids, source.ids, (size_t)length * sizeof *copy.ids);
  copy.source = source.source;
  copy.held = length;
  copy.ran = ran;
  copy.guessed = copy.firstRow = copy.rows = 0;
  copy.lender = nullptr;
  const int64_t row = length - 1 - source.firstRow;
  if (length && row >= 0 && row < source.rows) {
    for (size_t o = 0; o < made.outputCount; ++o) {
      const int64_t numbers = made.outputs[o].numbers();
      memcpy(copy.kept[o], made.rowOf(source, o, row),
             (size_t)numbers * sizeof(float));
    }
    copy.firstRow = length - 1;
    copy.rows = 1;
  }
  rewind(made, copy, length);
  return MILLE_OK;
}

} // namespace mille::generation

using namespace mille::generation;

extern "C" {

mille_status mille_sequence_open(mille_generation *generation,
                                 int64_t *sequence) {
  if (!generation || !sequence)
    return MILLE_INVALID_ARGUMENT;
  Sequence *opened = closedSequence(*generation, *sequence);
  if (!opened)
    return MILLE_TOO_LARGE;
  opened->open = true;
  opened->held = opened->guessed = opened->ran = opened->source = 0;
  opened->firstRow = opened->rows = 0;
  return MILLE_OK;
}

mille_status mille_sequence_close(mille_generation *generation,
                                  int64_t sequence) {
  mille_status status = MILLE_INVALID_ARGUMENT;
  Sequence *found = generation ? generation->find(sequence, status) : nullptr;
  if (!found)
    return status;
  found->open = false;
  found->ran = found->held = 0;
  return MILLE_OK;
}

mille_status mille_sequence_append(mille_generation *generation,
                                   int64_t sequence, const int32_t *ids,
                                   size_t count) {
  mille_status status = MILLE_INVALID_ARGUMENT;
  Sequence *found = generation ? generation->find(sequence, status) : nullptr;
  if (!found)
    return status;
  if ((status = checkIds(*generation, ids, count)) ||
      (status = checkRoom(*generation, found->held, count)))
    return status;
  for (size_t i = 0; i < count; ++i)
    append(*found, ids[i]);
  return MILLE_OK;
}

mille_status mille_sequence_follow(mille_generation *generation,
                                   int64_t sequence, const int32_t *ids,
                                   size_t count, size_t *kept) {
  mille_status status = MILLE_INVALID_ARGUMENT;
  Sequence *found = generation ? generation->find(sequence, status) : nullptr;
  if (!found)
    return status;
  if ((status = checkIds(*generation, ids, count)) ||
      (status = checkRoom(*generation, 0, count)))
    return status;
  size_t same = 0;
  while (same < count && same < (size_t)found->held &&
         found->ids[same] == ids[same])
    ++same;
  if (same < (size_t)found->held)
    rewind(*generation, *found, (int64_t)same);
  for (size_t i = same; i < count; ++i)
    append(*found, ids[i]);
  if (kept)
    *kept = same;
  return MILLE_OK;
}

mille_status mille_sequence_rewind(mille_generation *generation,
                                   int64_t sequence, int64_t length) {
  mille_status status = MILLE_INVALID_ARGUMENT;
  Sequence *found = generation ? generation->find(sequence, status) : nullptr;
  if (!found)
    return status;
  if (length < 0 || length > found->held)
    return generation->say(MILLE_INVALID_ARGUMENT,
                           "length is %lld but the sequence holds %lld tokens",
                           (ll)length, (ll)found->held);
  rewind(*generation, *found, length);
  return MILLE_OK;
}

mille_status mille_sequence_fork(mille_generation *generation, int64_t sequence,
                                 int64_t length, int64_t *fork) {
  mille_status status = MILLE_INVALID_ARGUMENT;
  Sequence *found = generation ? generation->find(sequence, status) : nullptr;
  if (!found || !fork)
    return status;
  if (length < 0 || length > found->held)
    return generation->say(MILLE_INVALID_ARGUMENT,
                           "length is %lld but the sequence holds %lld tokens",
                           (ll)length, (ll)found->held);
  int64_t number;
  Sequence *opened = closedSequence(*generation, number);
  if (!opened)
    return MILLE_TOO_LARGE;
  if ((status = copySequence(*generation, sequence, number, length)))
    return status;
  opened->open = true;
  *fork = number;
  return MILLE_OK;
}

mille_status mille_sequence_ids(mille_generation *generation, int64_t sequence,
                                const int32_t **ids, size_t *count) {
  mille_status status = MILLE_INVALID_ARGUMENT;
  Sequence *found = generation ? generation->find(sequence, status) : nullptr;
  if (!found || !ids || !count)
    return status;
  *ids = found->ids;
  *count = (size_t)found->held;
  return MILLE_OK;
}
}

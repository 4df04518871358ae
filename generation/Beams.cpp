// Beam search: several continuations of a sequence side by side, each in a
// sequence of its own, as the generate of transformers finds them. Must not
// know how a sequence is stored: beams are forked and closed.
#include "generation/Generation.h"

#include <math.h>
#include <string.h>

namespace mille::generation {

namespace {

class Beams {
public:
  Beams(mille_generation &made, int64_t first, const mille_beams &wanted)
      : made(made), memory(*made.beams), wanted(wanted),
        prompt(made.sequences[first].held) {
    beams[0].sequence = first;
  }

  Status run();
  const Ended &best() const { return memory.ended[0]; }

private:
  struct Beam {
    int64_t sequence = 0;
    double score = 0;
  };

  Status search();
  void rank();
  void offer(const Following &next);
  Status follow();
  void keep(const Following &next);
  bool ends(int32_t id) const;
  void mark(const int32_t *ids, size_t marked, int32_t is);
  void markBanned(const Sequence &sequence, int32_t is);
  bool improves() const;
  bool isFull() const { return endedCount == wanted.beams; }
  double penalty(double length) const {
    return pow(length, wanted.length_penalty);
  }
  Status fork(int64_t from, int64_t &to);

  mille_generation &made;
  BeamMemory &memory;
  const mille_beams &wanted;
  const int64_t prompt; // ids before those that are searched
  Beam beams[mostBeams], children[mostBeams];
  int64_t count = 1; // of beams that run
  int64_t followers = 0, endedCount = 0, length = 0;
  int64_t most = 0; // ids that are looked at in a step
  bool mayImprove = true;
};

bool isAmong(int32_t id, const int32_t *ids, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (ids[i] == id)
      return true;
  return false;
}

bool Beams::ends(int32_t id) const {
  return isAmong(id, wanted.ends, wanted.end_count);
}

void Beams::mark(const int32_t *ids, size_t marked, int32_t is) {
  for (size_t i = 0; i < marked; ++i)
    if (ids[i] >= 0 && ids[i] < made.vocabulary)
      made.counts[ids[i]] = is;
}

// Marks the ids that may not follow a beam, or (is = 0) takes the marks away.
void Beams::markBanned(const Sequence &sequence, int32_t is) {
  mark(wanted.banned, wanted.banned_count, is);
  if (length == 0)
    mark(wanted.banned_first, wanted.banned_first_count, is);
  if (length < wanted.least)
    mark(wanted.ends, wanted.end_count, is);
  const int64_t known = wanted.no_repeat - 1;
  const int32_t *last = sequence.ids + sequence.held - known;
  for (int64_t i = 0; known >= 0 && i + known < sequence.held; ++i)
    if (!memcmp(sequence.ids + i, last, (size_t)known * sizeof *last))
      mark(sequence.ids + i + known, 1, is);
}

// Puts an id among the best, which are sorted; of equal ones the first comes
// first.
void Beams::offer(const Following &next) {
  int64_t place = followers;
  while (place > 0 && memory.following[place - 1].score < next.score)
    --place;
  if (place == most)
    return;
  followers += followers < most;
  for (int64_t i = followers - 1; i > place; --i)
    memory.following[i] = memory.following[i - 1];
  memory.following[place] = next;
}

// The ids that may follow, each with the score of all its beam's ids.
void Beams::rank() {
  followers = 0;
  const bool isLast = length + 1 == wanted.most && wanted.last >= 0;
  const int32_t forced = isLast ? wanted.last : length == 0 ? wanted.first : -1;
  for (int64_t b = 0; b < count; ++b) {
    const Sequence &sequence = made.sequences[beams[b].sequence];
    const float *logits = made.lastLogits(sequence);
    if (forced >= 0) {
      offer({beams[b].score, (int32_t)b, forced});
      continue;
    }
    const double all = beams[b].score - logSum(logits, made.vocabulary);
    markBanned(sequence, 1);
    for (int64_t id = 0; id < made.vocabulary; ++id) {
      const double score = logits[id] + all;
      if (isfinite(score) && !made.counts[id])
        offer({score, (int32_t)b, (int32_t)id});
    }
    markBanned(sequence, 0);
  }
}

// Keeps a beam that ended, if it is among the best.
void Beams::keep(const Following &next) {
  const double score = next.score / penalty((double)(length + 1));
  const bool isDropped = isFull() && wanted.stop == MILLE_BEAMS_STOP_EARLY;
  if (isDropped || !mayImprove)
    return;
  int64_t place = endedCount;
  while (place > 0 && memory.ended[place - 1].score < score)
    --place;
  if (place == wanted.beams)
    return;
  endedCount += !isFull();
  const Ended last = memory.ended[endedCount - 1];
  for (int64_t i = endedCount - 1; i > place; --i)
    memory.ended[i] = memory.ended[i - 1];
  const Sequence &sequence = made.sequences[beams[next.beam].sequence];
  memcpy(last.ids, sequence.ids + prompt, (size_t)length * sizeof *last.ids);
  last.ids[length] = next.id;
  memory.ended[place] = {last.ids, length + 1, score};
}

Status Beams::fork(int64_t from, int64_t &to) {
  Sequence *opened = closedSequence(made, to);
  if (!opened)
    return MILLE_TOO_LARGE;
  Status status = copySequence(made, from, to, made.sequences[from].held);
  if (!status)
    opened->open = true;
  return status;
}

// The beams of the next step: those that do not end. The first child of a beam
// stays where that is; the others go where a beam has none, or to a further
// sequence.
Status Beams::follow() {
  int64_t next = 0;
  bool stays[mostBeams] = {};
  int32_t ids[mostBeams];
  int64_t parents[mostBeams];
  for (int64_t i = 0; i < followers && next < wanted.beams; ++i) {
    const Following &follower = memory.following[i];
    if (ends(follower.id))
      continue;
    ids[next] = follower.id;
    parents[next] = follower.beam;
    children[next].score = follower.score;
    children[next++].sequence =
        stays[follower.beam] ? -1 : beams[follower.beam].sequence;
    stays[follower.beam] = true;
  }
  for (int64_t b = 0; b < count; ++b)
    if (!stays[b])
      made.sequences[beams[b].sequence].open = false;
  for (int64_t c = 0; c < next; ++c)
    if (children[c].sequence < 0) {
      if (Status status =
              fork(beams[parents[c]].sequence, children[c].sequence))
        return status;
    }
  for (int64_t c = 0; c < next; ++c) {
    Sequence &sequence = made.sequences[children[c].sequence];
    sequence.guessed = 0;
    sequence.forget(sequence.held);
    sequence.ids[sequence.held++] = ids[c];
    beams[c] = children[c];
  }
  count = next;
  return MILLE_OK;
}

// Whether a beam that runs may become better than one that has ended.
bool Beams::improves() const {
  if (!isFull())
    return true;
  const bool grows =
      wanted.stop == MILLE_BEAMS_STOP_NEVER && wanted.length_penalty > 0;
  const double best =
      beams[0].score / penalty((double)(grows ? wanted.most : length));
  return best > memory.ended[endedCount - 1].score;
}

Status Beams::search() {
  Status status = decode(made);
  while (!status) {
    rank();
    const bool isLast = length + 1 == wanted.most;
    bool isOver = true;
    for (int64_t i = 0; i < followers; ++i) {
      const bool isEnd = isLast || ends(memory.following[i].id);
      isOver &= isEnd;
      if (isEnd && i < wanted.beams)
        keep(memory.following[i]);
    }
    if (isOver && endedCount)
      return MILLE_OK;
    if (isOver)
      return made.say(MILLE_INVALID_INPUT,
                      "no id may follow: all are banned or have no finite "
                      "logit");
    if ((status = follow()))
      break;
    ++length;
    mayImprove &= improves();
    const bool isDone = isFull() && (wanted.stop == MILLE_BEAMS_STOP_EARLY ||
                                     wanted.beams == 1);
    if (!mayImprove || isDone)
      return MILLE_OK;
    status = decode(made);
  }
  return status;
}

// Afterwards `first` alone is open. Whatever beam stood in its place last
// begins with the ids that it held.
Status Beams::run() {
  most =
      (wanted.end_count > 1 ? (int64_t)wanted.end_count + 1 : 2) * wanted.beams;
  const int64_t first = beams[0].sequence;
  const Status status = search();
  for (int64_t b = 0; b < count; ++b)
    made.sequences[beams[b].sequence].open = false;
  Sequence &sequence = made.sequences[first];
  sequence.open = true;
  rewind(made, sequence, prompt);
  return status;
}

Status checkNumbers(mille_generation &made, const mille_beams &beams) {
  if (beams.beams < 1 || beams.beams > mostBeams)
    return made.say(MILLE_INVALID_ARGUMENT,
                    "beams is %lld but must be 1 to %lld", (ll)beams.beams,
                    (ll)mostBeams);
  if (!isfinite(beams.length_penalty))
    return made.say(MILLE_INVALID_ARGUMENT,
                    "length_penalty is %g but must be finite",
                    beams.length_penalty);
  if (beams.stop < MILLE_BEAMS_STOP_LIKELY ||
      beams.stop > MILLE_BEAMS_STOP_NEVER)
    return made.say(MILLE_INVALID_ARGUMENT, "stop is %d but must be 0 to 2",
                    (int)beams.stop);
  if (beams.most < 1)
    return made.say(MILLE_INVALID_ARGUMENT,
                    "most is %lld but must be at least 1", (ll)beams.most);
  if (beams.end_count > (size_t)mostEnds)
    return made.say(MILLE_INVALID_ARGUMENT,
                    "%zu ids end a beam but at most %lld may", beams.end_count,
                    (ll)mostEnds);
  if (beams.least < 0 || beams.no_repeat < 0)
    return made.say(MILLE_INVALID_ARGUMENT,
                    "least is %lld and no_repeat %lld but neither may be below "
                    "0",
                    (ll)beams.least, (ll)beams.no_repeat);
  if ((!beams.ends && beams.end_count) ||
      (!beams.banned && beams.banned_count) ||
      (!beams.banned_first && beams.banned_first_count))
    return made.say(MILLE_INVALID_ARGUMENT,
                    "ends, banned or banned_first is null");
  const int32_t both[] = {beams.first, beams.last};
  for (int32_t forced : both)
    if (forced < -1 || forced >= made.vocabulary)
      return made.say(MILLE_INVALID_INPUT,
                      "a forced id is %d but the vocabulary has %lld ids",
                      forced, (ll)made.vocabulary);
  return MILLE_OK;
}

Status check(mille_generation &made, const Sequence &sequence,
             const mille_beams &beams) {
  if (Status status = checkNumbers(made, beams))
    return status;
  if (!sequence.held)
    return made.say(MILLE_INVALID_ARGUMENT,
                    "the sequence is empty: it has no token to continue");
  if (beams.most > made.options.context - sequence.held)
    return made.say(MILLE_TOO_LARGE,
                    "beams would hold %lld tokens but there is room for %lld",
                    (ll)(sequence.held + beams.most), (ll)made.options.context);
  int64_t closed = 0;
  for (int64_t s = 0; s < made.options.sequences; ++s)
    closed += !made.sequences[s].open;
  if (closed < beams.beams - 1)
    return made.say(MILLE_TOO_LARGE,
                    "%lld beams take %lld further sequences but %lld are left",
                    (ll)beams.beams, (ll)(beams.beams - 1), (ll)closed);
  return MILLE_OK;
}

} // namespace
} // namespace mille::generation

using namespace mille::generation;

extern "C" {

mille_status mille_sequence_beams(mille_generation *generation,
                                  int64_t sequence, const mille_beams *beams,
                                  const int32_t **ids, size_t *count,
                                  double *score) {
  mille_status status = MILLE_INVALID_ARGUMENT;
  Sequence *found = generation ? generation->find(sequence, status) : nullptr;
  if (!found || !beams || !ids || !count)
    return status;
  if (beams->size != sizeof *beams)
    return generation->say(MILLE_INVALID_ARGUMENT,
                           "size is not what this header says: start from "
                           "MILLE_BEAMS_INIT");
  if ((status = check(*generation, *found, *beams)))
    return status;
  Beams search(*generation, sequence, *beams);
  if ((status = search.run()))
    return status;
  *ids = search.best().ids;
  *count = (size_t)search.best().count;
  if (score)
    *score = search.best().score;
  return MILLE_OK;
}
}

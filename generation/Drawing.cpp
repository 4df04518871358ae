// Applies biases, penalties, the mask, the temperature, top-k, typical, top-p
// and min-p, then draws. Must depend on the logits, the held ids, the seed and
// the position only.
#include "generation/Drawing.h"

#include <math.h>

namespace mille::generation {

Status checkSampling(mille_generation &made, const mille_sampling &sampling) {
  if (sampling.size != sizeof sampling)
    return made.say(MILLE_INVALID_ARGUMENT,
                    "size is %zu but mille_sampling has %zu bytes: start from "
                    "MILLE_SAMPLING_INIT",
                    sampling.size, sizeof sampling);
  const struct {
    const char *name;
    double value;
    bool fits;
    const char *range;
  } numbers[] = {
      {"temperature", sampling.temperature,
       sampling.temperature >= 0 && isfinite(sampling.temperature),
       "at least 0"},
      {"top_k", (double)sampling.top_k, sampling.top_k >= 0, "at least 0"},
      {"typical", sampling.typical,
       sampling.typical > 0 && sampling.typical <= 1, "above 0, at most 1"},
      {"top_p", sampling.top_p, sampling.top_p > 0 && sampling.top_p <= 1,
       "above 0, at most 1"},
      {"min_p", sampling.min_p, sampling.min_p >= 0 && sampling.min_p <= 1,
       "0 to 1"},
      {"repetition_penalty", sampling.repetition_penalty,
       sampling.repetition_penalty > 0 && isfinite(sampling.repetition_penalty),
       "above 0"},
      {"presence_penalty", sampling.presence_penalty,
       isfinite(sampling.presence_penalty) != 0, "finite"},
      {"frequency_penalty", sampling.frequency_penalty,
       isfinite(sampling.frequency_penalty) != 0, "finite"},
      {"repeat_last", (double)sampling.repeat_last, sampling.repeat_last >= 0,
       "at least 0"}};
  for (const auto &number : numbers)
    if (!number.fits)
      return made.say(MILLE_INVALID_ARGUMENT, "%s is %g but must be %s",
                      number.name, number.value, number.range);
  if (sampling.bias_count && (!sampling.bias_ids || !sampling.biases))
    return made.say(MILLE_INVALID_ARGUMENT, "bias_ids or biases is null");
  return MILLE_OK;
}

namespace {

Status addBiases(mille_generation &made, const mille_sampling &sampling) {
  for (size_t i = 0; i < sampling.bias_count; ++i) {
    const int32_t id = sampling.bias_ids[i];
    if (id < 0 || id >= made.vocabulary)
      return made.say(MILLE_INVALID_INPUT,
                      "a bias is of id %d but the vocabulary of model %s has "
                      "%lld ids",
                      id, made.name, (ll)made.vocabulary);
    if (isnan(sampling.biases[i]))
      return made.say(MILLE_INVALID_INPUT, "the bias of id %d is no number",
                      id);
    const double biased = made.candidates[id].logit + sampling.biases[i];
    // The sum of infinities of both signs: a banned id stays banned.
    made.candidates[id].logit = isnan(biased) ? -HUGE_VAL : biased;
  }
  return MILLE_OK;
}

void penalize(mille_generation &made, const Sequence &sequence,
              const mille_sampling &sampling) {
  if (sampling.repetition_penalty == 1 && sampling.presence_penalty == 0 &&
      sampling.frequency_penalty == 0)
    return;
  const int64_t last = sampling.repeat_last;
  const int64_t first = last && last < sequence.held ? sequence.held - last : 0;
  for (int64_t i = first; i < sequence.held; ++i)
    ++made.counts[sequence.ids[i]];
  for (int64_t i = first; i < sequence.held; ++i) {
    const int32_t id = sequence.ids[i];
    if (!made.counts[id])
      continue; // handled at its first occurrence
    double &logit = made.candidates[id].logit;
    logit = logit > 0 ? logit / sampling.repetition_penalty
                      : logit * sampling.repetition_penalty;
    logit -= sampling.presence_penalty +
             made.counts[id] * sampling.frequency_penalty;
    made.counts[id] = 0;
  }
}

// Moves the candidates that the mask allows to the front.
Status takeAllowed(mille_generation &made, const uint64_t *allowed,
                   Candidates &candidates) {
  candidates = {made.candidates, allowed ? 0 : made.vocabulary};
  for (int64_t id = 0; allowed && id < made.vocabulary; ++id)
    if (allowed[id / 64] >> (id % 64) & 1)
      made.candidates[candidates.count++] = made.candidates[id];
  return candidates.count ? MILLE_OK
                          : made.say(MILLE_INVALID_INPUT,
                                     "the mask allows none of the %lld ids",
                                     (ll)made.vocabulary);
}

// Nothing changes the logits, and the largest is drawn.
bool isLikeliest(const mille_sampling &sampling) {
  return sampling.temperature == 0 && !sampling.bias_count &&
         !sampling.allowed && sampling.repetition_penalty == 1 &&
         sampling.presence_penalty == 0 && sampling.frequency_penalty == 0;
}

// The first id of the largest logit, as of candidates in order, without a list
// of them: 1.5 MB of 49152. What is no number is -infinity.
int32_t likeliestOf(const float *logits, int64_t count) {
  constexpr int lanes = 16;
  float most[lanes];
  for (float &lane : most)
    lane = -HUGE_VALF;
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int lane = 0; lane < lanes; ++lane)
      most[lane] =
          logits[i + lane] > most[lane] ? logits[i + lane] : most[lane];
  float largest = -HUGE_VALF;
  for (; i < count; ++i)
    largest = logits[i] > largest ? logits[i] : largest;
  for (float lane : most)
    largest = lane > largest ? lane : largest;
  if (largest == -HUGE_VALF)
    return 0;
  int64_t id = 0;
  while (logits[id] != largest)
    ++id;
  return (int32_t)id;
}

} // namespace

Status draw(mille_generation &made, const Sequence &sequence,
            const mille_sampling &sampling, int32_t &id) {
  if (Status status = checkSampling(made, sampling))
    return status;
  const float *logits = made.lastLogits(sequence);
  if (isLikeliest(sampling)) {
    id = likeliestOf(logits, made.vocabulary);
    return MILLE_OK;
  }
  for (int32_t i = 0; i < made.vocabulary;
       ++i) // what is no number is not drawn
    made.candidates[i] = {isnan(logits[i]) ? -HUGE_VAL : (double)logits[i], 0,
                          0, i};
  if (Status status = addBiases(made, sampling))
    return status;
  penalize(made, sequence, sampling);
  Candidates candidates;
  if (Status status = takeAllowed(made, sampling.allowed, candidates))
    return status;
  const bool greedy = sampling.temperature == 0;
  candidates.keepLikeliest(greedy           ? 1
                           : sampling.top_k ? sampling.top_k
                                            : candidates.count);
  if (greedy) {
    id = candidates.list[0].id;
    return MILLE_OK;
  }
  candidates.weigh(sampling.temperature);
  if (sampling.typical < 1)
    candidates.keepTypical(sampling.typical);
  if (sampling.top_p < 1)
    candidates.keepShare(sampling.top_p);
  candidates.keepOver(sampling.min_p * candidates.list[0].weight);
  id = candidates.at(drawnNumber(sampling.seed, (uint64_t)sequence.held));
  return MILLE_OK;
}

} // namespace mille::generation

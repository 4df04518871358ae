// Answers questions about a sequence's outputs: the next id, probabilities.
// Must not know how an id is drawn.
#include "generation/Drawing.h"

#include <math.h>
#include <string.h>

namespace mille::generation {

static double number(float logit) { return isnan(logit) ? -HUGE_VAL : logit; }

double logSum(const float *logits, int64_t count) {
  double largest = -HUGE_VAL, sum = 0;
  for (int64_t i = 0; i < count; ++i)
    largest = fmax(largest, number(logits[i]));
  if (isinf(largest))
    return largest;
  for (int64_t i = 0; i < count; ++i)
    sum += exp(number(logits[i]) - largest);
  return largest + log(sum);
}

namespace {

// A sequence whose outputs are known, or null after an error.
const Sequence *known(mille_generation *made, int64_t number, Status &status) {
  status = MILLE_INVALID_ARGUMENT;
  const Sequence *sequence = made ? made->find(number, status) : nullptr;
  if (!sequence || sequence->knowsOutputs())
    return sequence;
  status = sequence->held
               ? made->say(MILLE_INVALID_ARGUMENT,
                           "the sequence holds %lld tokens that have not all "
                           "run: decode first",
                           (ll)sequence->held)
               : made->say(MILLE_INVALID_ARGUMENT,
                           "the sequence is empty: it has no token to "
                           "continue");
  return nullptr;
}

double logprobOf(double logit, double all) {
  return logit == all ? 0 : logit - all; // of infinite ones too
}

} // namespace
} // namespace mille::generation

using namespace mille::generation;

extern "C" {

mille_status mille_sequence_sample(mille_generation *generation,
                                   int64_t sequence,
                                   const mille_sampling *sampling,
                                   int32_t *id) {
  mille_status status;
  const Sequence *found = known(generation, sequence, status);
  if (!found || !sampling || !id)
    return found ? MILLE_INVALID_ARGUMENT : status;
  return draw(*generation, *found, *sampling, *id);
}

mille_status mille_sequence_logits(mille_generation *generation,
                                   int64_t sequence, const float **logits,
                                   size_t *count) {
  mille_status status;
  const Sequence *found = known(generation, sequence, status);
  if (!found || !logits || !count)
    return found ? MILLE_INVALID_ARGUMENT : status;
  *logits = generation->lastLogits(*found);
  *count = (size_t)generation->vocabulary;
  return MILLE_OK;
}

mille_status mille_sequence_output(mille_generation *generation,
                                   int64_t sequence, const char *name,
                                   const float **numbers, size_t *count) {
  mille_status status;
  const Sequence *found = known(generation, sequence, status);
  if (!found || !name || !numbers || !count)
    return found ? MILLE_INVALID_ARGUMENT : status;
  for (size_t o = 0; o < generation->outputCount; ++o) {
    const Output &output = generation->outputs[o];
    if (strcmp(output.name, name))
      continue;
    *numbers = generation->lastOf(*found, o);
    *count = (size_t)output.numbers();
    return MILLE_OK;
  }
  return generation->say(MILLE_INVALID_ARGUMENT,
                         "the entries of model %s have no output %s",
                         generation->name, name);
}

mille_status mille_sequence_likeliest(mille_generation *generation,
                                      int64_t sequence, size_t count,
                                      int32_t *ids, double *logprobs) {
  mille_status status;
  const Sequence *found = known(generation, sequence, status);
  if (!found || !ids || !logprobs)
    return found ? MILLE_INVALID_ARGUMENT : status;
  const int64_t vocabulary = generation->vocabulary;
  if (count > (size_t)vocabulary)
    return generation->say(MILLE_INVALID_ARGUMENT,
                           "%zu ids are asked for but the vocabulary of model "
                           "%s has %lld",
                           count, generation->name, (ll)vocabulary);
  const float *logits = generation->lastLogits(*found);
  Candidates candidates{generation->candidates, vocabulary};
  for (int32_t i = 0; i < vocabulary; ++i)
    candidates.list[i] = {number(logits[i]), 0, 0, i};
  candidates.keepLikeliest((int64_t)count);
  const double all = logSum(logits, vocabulary);
  for (size_t i = 0; i < count; ++i) {
    ids[i] = candidates.list[i].id;
    logprobs[i] = logprobOf(candidates.list[i].logit, all);
  }
  return MILLE_OK;
}

mille_status mille_sequence_logprob(mille_generation *generation,
                                    int64_t sequence, int32_t id,
                                    double *logprob) {
  mille_status status;
  const Sequence *found = known(generation, sequence, status);
  if (!found || !logprob)
    return found ? MILLE_INVALID_ARGUMENT : status;
  if (id < 0 || id >= generation->vocabulary)
    return generation->say(MILLE_INVALID_INPUT,
                           "id %d is not in the vocabulary of model %s, which "
                           "has %lld ids",
                           id, generation->name, (ll)generation->vocabulary);
  const float *logits = generation->lastLogits(*found);
  *logprob =
      logprobOf(number(logits[id]), logSum(logits, generation->vocabulary));
  return MILLE_OK;
}
}

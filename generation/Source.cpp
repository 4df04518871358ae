// Encodes a sequence's source: what the decoder's layers read of it is in the
// sequence's states from then on. Must not know how the decoder continues.
#include "generation/Generation.h"

namespace mille::generation {

namespace {

// Encodes into the first sequence, the only one that a run of one sequence
// writes, and copies that. What the first one held waits in the spare one.
class Encoding {
public:
  Encoding(mille_generation &made, int64_t sequence)
      : made(made), sequence(sequence),
        waits(sequence > 0 && made.sequences[0].open) {}

  Status run(const void *source, int64_t tokens) {
    const int64_t spare = made.options.sequences;
    if (waits)
      if (Status status = copy(0, spare))
        return status;
    Status status = encode(source, tokens);
    if (!status && sequence > 0)
      status = copy(0, sequence);
    const Status back = waits ? copy(spare, 0) : MILLE_OK;
    return status ? status : back;
  }

private:
  Status copy(int64_t from, int64_t to) {
    return made.runtimeSays(
        made.runtime.session_copy_states(made.session, from, to));
  }

  Status encode(const void *source, int64_t tokens) {
    Encoder &encoder = made.encoder;
    for (size_t i = 0; i < encoder.inputs; ++i)
      encoder.pointers[i] = nullptr;
    encoder.pointers[encoder.ids != absent ? encoder.ids : encoder.values] =
        source;
    const mille_size sizes[] = {{"batch", 1}, {"tokens", tokens}};
    return made.runtimeSays(made.runtime.session_run_entry(
        made.session, encoder.number, sizes, encoder.tokens ? 1 : 2,
        encoder.pointers, encoder.rows));
  }

  mille_generation &made;
  const int64_t sequence;
  const bool waits;
};

// What the sequence held is forgotten even where its source cannot be encoded:
// its states may be half written.
Status encode(mille_generation &made, int64_t number, const void *source,
              int64_t tokens) {
  Sequence &sequence = made.sequences[number];
  rewind(made, sequence, 0);
  sequence.source = 0;
  const Status status = Encoding(made, number).run(source, tokens);
  if (!status)
    sequence.source = tokens;
  return status;
}

Status checkEncoder(mille_generation &made, bool takesIds) {
  const Encoder &encoder = made.encoder;
  if (!encoder.there)
    return made.say(MILLE_INVALID_ARGUMENT,
                    "model %s has no entry source: it has no encoder",
                    made.name);
  if (takesIds == (encoder.ids != absent))
    return MILLE_OK;
  return made.say(MILLE_INVALID_ARGUMENT,
                  takesIds ? "the encoder of model %s takes numbers, not ids"
                           : "the encoder of model %s takes ids, not numbers",
                  made.name);
}

Status checkIds(mille_generation &made, const int32_t *ids, size_t count) {
  if (!ids || !count)
    return made.say(MILLE_INVALID_ARGUMENT, "a source has no ids");
  if (count > (size_t)made.options.source)
    return made.say(MILLE_TOO_LARGE,
                    "the source has %zu tokens but there is room for %lld",
                    count, (ll)made.options.source);
  for (size_t i = 0; i < count; ++i)
    if (ids[i] < 0 || (made.encoder.below && ids[i] >= made.encoder.below))
      return made.say(MILLE_INVALID_INPUT,
                      "id %d of place %zu of the source is not below %lld",
                      ids[i], i, (ll)made.encoder.below);
  return MILLE_OK;
}

} // namespace
} // namespace mille::generation

using namespace mille::generation;

extern "C" {

mille_status mille_sequence_source(mille_generation *generation,
                                   int64_t sequence, const int32_t *ids,
                                   size_t count) {
  mille_status status = MILLE_INVALID_ARGUMENT;
  if (!generation || !generation->find(sequence, status) ||
      (status = checkEncoder(*generation, /*takesIds=*/true)) ||
      (status = checkIds(*generation, ids, count)))
    return status;
  return encode(*generation, sequence, ids, (int64_t)count);
}

mille_status mille_sequence_source_values(mille_generation *generation,
                                          int64_t sequence, const float *values,
                                          size_t count) {
  mille_status status = MILLE_INVALID_ARGUMENT;
  if (!generation || !generation->find(sequence, status) ||
      (status = checkEncoder(*generation, /*takesIds=*/false)))
    return status;
  const Encoder &encoder = generation->encoder;
  if (!values || count != (size_t)encoder.elements)
    return generation->say(MILLE_INVALID_INPUT,
                           "the source has %zu numbers but the encoder of "
                           "model %s takes %lld",
                           values ? count : 0, generation->name,
                           (ll)encoder.elements);
  return encode(*generation, sequence, values, encoder.tokens);
}
}

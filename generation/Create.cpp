// Makes a generation: checks the options, allocates all memory.
// Must not run anything.
#include "generation/Creation.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

using namespace mille::generation;

mille_status mille_generation::say(mille_status status, const char *format,
                                   ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(message, sizeof message, format, list);
  va_end(list);
  return status;
}

mille_status mille_generation::runtimeSays(mille_status status) {
  return status ? say(status, "%s", runtime.session_message(session)) : status;
}

Sequence *mille_generation::find(int64_t sequence, mille_status &status) {
  if (sequence >= 0 && sequence < options.sequences && sequences[sequence].open)
    return &sequences[sequence];
  status =
      say(MILLE_INVALID_ARGUMENT, "sequence %lld is not open", (ll)sequence);
  return nullptr;
}

namespace {

class Creation {
public:
  explicit Creation(mille_generation &made)
      : made(made), runtime(made.runtime), options(made.options) {}

  Status run() {
    if (Status status = check())
      return status;
    if (Status status = findEntries(made))
      return status;
    if (Status status = findStates())
      return status;
    if (Status status = createSession())
      return status;
    if (Status status = measureStates())
      return status;
    return allocate() ? MILLE_OK
                      : made.say(MILLE_OUT_OF_MEMORY,
                                 "memory for %lld sequences of %lld tokens was "
                                 "refused",
                                 (ll)options.sequences, (ll)options.context);
  }

private:
  Status check();
  Status findStates();
  Status measureStates();
  bool allocate();
  bool allocateRows(Entry &entry);
  float *memoryOfSession(size_t each);
  bool allocateSequence(Sequence &sequence);
  bool allocateStep();
  bool allocateEncoder();
  bool allocateBeams();
  Status createSession();
  Status packageSays(Status status) const {
    return mille::generation::packageSays(made, status);
  }

  mille_generation &made;
  const mille_generation_runtime &runtime;
  mille_generation_options &options;
};

Status Creation::check() {
  const struct {
    const char *name;
    int64_t value, least, most;
  } numbers[] = {{"sequences", options.sequences, 1, 1 << 16},
                 {"context", options.context, 1, INT32_MAX - 1024},
                 {"piece", options.piece, 0, 1 << 16},
                 {"guesses", options.guesses, 0, 64},
                 {"source", options.source, 0, 1 << 20}};
  for (const auto &number : numbers)
    if (number.value < number.least || number.value > number.most)
      return made.say(MILLE_INVALID_ARGUMENT,
                      "%s is %lld but must be %lld to %lld", number.name,
                      (ll)number.value, (ll)number.least, (ll)number.most);
  if (Status status =
          packageSays(runtime.package_name(made.package, &made.name)))
    return status;
  return packageSays(runtime.package_hash(made.package, &made.hash));
}

Status Creation::findStates() {
  if (Status status = packageSays(
          runtime.package_state_count(made.package, &made.stateCount)))
    return status;
  made.states = zeros<State>(made, made.stateCount);
  if (!made.states)
    return made.say(MILLE_OUT_OF_MEMORY, "memory was refused");
  for (size_t s = 0; s < made.stateCount; ++s) {
    mille_tensor tensor;
    if (Status status =
            packageSays(runtime.package_state(made.package, s, &tensor)))
      return status;
    const bool ofSource = !strncmp(tensor.name, "source_", 7);
    made.states[s].tokens = ofSource || tensor.sizes[2] != nullptr;
    made.sums |= !made.states[s].tokens;
  }
  if (options.guesses && made.sums)
    return made.say(MILLE_INVALID_ARGUMENT,
                    "model %s remembers running sums, which cannot forget a "
                    "guess: guesses must be 0",
                    made.name);
  return MILLE_OK;
}

Status Creation::measureStates() {
  for (size_t s = 0; s < made.stateCount; ++s) {
    State &state = made.states[s];
    if (Status status =
            runtime.session_state_bytes(made.session, s, &state.bytes))
      return made.runtimeSays(status);
    if (state.tokens)
      continue;
    state.kept = made.keptBytes;
    if (__builtin_add_overflow(made.keptBytes, state.bytes, &made.keptBytes))
      return made.say(MILLE_OUT_OF_MEMORY, "memory was refused");
  }
  return MILLE_OK;
}

bool Creation::allocateRows(Entry &entry) {
  if (!entry.there)
    return true;
  entry.rows = zeros<float *>(made, entry.outputs);
  entry.own = zeros<float *>(made, entry.outputs);
  if (!entry.rows || !entry.own)
    return false;
  for (size_t i = 0; i < entry.outputs; ++i) {
    const Output &output = entry.results[i];
    size_t each;
    if (!multiplied(output.everyRow ? made.pieceOf(entry) : 1, output.numbers(),
                    each))
      return false;
    entry.rows[i] = memoryOfSession(each);
    if (!entry.rows[i])
      entry.rows[i] = entry.own[i] =
          zeros<float>(made, options.sequences, each);
    if (!entry.rows[i])
      return false;
  }
  return true;
}

// Where the session's device copies so many numbers of each sequence at once;
// null where memory of our own is as good. Packages of earlier builds have
// none.
float *Creation::memoryOfSession(size_t each) {
  size_t numbers, bytes;
  void *memory = nullptr;
  if (!multiplied(options.sequences, each, numbers) ||
      !multiplied(numbers, sizeof(float), bytes) ||
      runtime.session_output_memory(made.session, bytes, &memory))
    return nullptr;
  return static_cast<float *>(memory);
}

bool Creation::allocateStep() {
  const int64_t batch = options.sequences;
  const size_t inputs = made.last.inputs + made.every.inputs;
  StepInputs &step = made.step;
  step.ids = zeros<int32_t>(made, batch, options.piece);
  step.mask = zeros<int32_t>(made, batch, options.piece);
  step.past = zeros<int32_t>(made, batch);
  step.source = zeros<int32_t>(made, batch);
  step.counts = zeros<int64_t>(made, batch);
  step.pointers = zeros<const void *>(made, inputs);
  return step.ids && step.mask && step.past && step.source && step.counts &&
         step.pointers;
}

bool Creation::allocateEncoder() {
  Encoder &encoder = made.encoder;
  encoder.rows = zeros<float *>(made, encoder.outputs);
  encoder.pointers = zeros<const void *>(made, encoder.inputs);
  if (!encoder.rows || !encoder.pointers)
    return false;
  for (size_t i = 0; i < encoder.outputs; ++i) {
    mille_tensor tensor;
    size_t each = 1;
    if (runtime.package_entry_output(made.package, encoder.number, i, &tensor))
      return false;
    bool batched = false; // the batch, which is of one, is no factor
    for (int d = 0; d < tensor.rank; ++d) {
      const bool batch = tensor.sizes[d] && !batched;
      batched |= batch;
      if (!batch &&
          !multiplied(each, tensor.sizes[d] ? options.source : tensor.shape[d],
                      each))
        return false;
    }
    if (!(encoder.rows[i] = zeros<float>(made, each)))
      return false;
  }
  return true;
}

bool Creation::allocateBeams() {
  made.beams = zeros<BeamMemory>(made, 1);
  for (int64_t b = 0; made.beams && b < mostBeams; ++b)
    if (!(made.beams->ended[b].ids = zeros<int32_t>(made, options.context)))
      return false;
  return made.beams;
}

bool Creation::allocateSequence(Sequence &sequence) {
  sequence.ids = zeros<int32_t>(made, options.context);
  sequence.kept = zeros<float *>(made, made.outputCount);
  for (size_t o = 0; sequence.kept && o < made.outputCount; ++o)
    if (!(sequence.kept[o] = zeros<float>(made, made.outputs[o].numbers(),
                                          (uint64_t)options.guesses + 1)))
      return false;
  return sequence.ids && sequence.kept;
}

bool Creation::allocate() {
  made.sequences = zeros<Sequence>(made, options.sequences);
  if (!made.sequences || !allocateRows(made.last) ||
      !allocateRows(made.every) || !allocateStep() || !allocateEncoder() ||
      !allocateBeams())
    return false;
  for (int64_t s = 0; s < options.sequences; ++s)
    if (!allocateSequence(made.sequences[s]))
      return false;
  made.candidates = zeros<Candidate>(made, made.vocabulary);
  made.counts = zeros<int32_t>(made, made.vocabulary);
  made.buffer = zeros<char>(made, bufferBytes);
  made.kept = zeros<char>(made, options.sequences, made.keptBytes);
  return made.candidates && made.counts && made.buffer && made.kept;
}

Status Creation::createSession() {
  // A model with running sums needs one row more, for sequences that do not run
  // (Decode.cpp).
  // An encoder fills the states of the first sequence, whose own wait in a
  // further one meanwhile (Source.cpp).
  const bool reads = made.encoder.there && !made.encoder.tokens;
  const int64_t tokens =
      reads && options.source > options.piece ? options.source : options.piece;
  const mille_size most[] = {
      {"batch", options.sequences + spareSequences(made)},
      {"tokens", tokens},
      {"context", options.context + made.sums},
      {"source", options.source}};
  return packageSays(runtime.session_create_for(
      made.package, most, reads ? 4 : 3, options.threads, &made.session));
}

Status refuse(char *message, size_t size, const char *text) {
  if (message && size)
    snprintf(message, size, "%s", text);
  return MILLE_INVALID_ARGUMENT;
}

void freeAll(float **rows, size_t count) {
  for (size_t i = 0; rows && i < count; ++i)
    free(rows[i]);
  free(rows);
}

void freeRows(Entry &entry) {
  free(entry.rows);
  freeAll(entry.own, entry.outputs);
}

} // namespace

extern "C" {

mille_status mille_generation_create(const mille_generation_runtime *runtime,
                                     mille_package *package,
                                     const mille_generation_options *options,
                                     mille_generation **generation,
                                     char *message, size_t message_size) {
  if (generation)
    *generation = nullptr;
  if (!generation || !package || !runtime || !options)
    return refuse(message, message_size, "an argument is null");
  if (runtime->size != sizeof *runtime || options->size != sizeof *options)
    return refuse(message, message_size,
                  "size is not what this header says: start from the INITs");
  void *memory = malloc(sizeof(mille_generation));
  if (!memory) {
    refuse(message, message_size, "memory was refused");
    return MILLE_OUT_OF_MEMORY;
  }
  auto *made = new (Place(), memory) mille_generation();
  made->runtime = *runtime;
  made->options = *options;
  made->package = package;
  if (Status status = Creation(*made).run()) {
    refuse(message, message_size, made->message);
    mille_generation_close(made);
    return status;
  }
  *generation = made;
  return MILLE_OK;
}

void mille_generation_close(mille_generation *generation) {
  if (!generation)
    return;
  mille_generation &made = *generation;
  if (made.session)
    made.runtime.session_close(made.session);
  freeRows(made.last);
  freeRows(made.every);
  for (int64_t s = 0; made.sequences && s < made.options.sequences; ++s) {
    free(made.sequences[s].ids);
    freeAll(made.sequences[s].kept, made.outputCount);
  }
  free(made.sequences);
  free(made.last.results);
  free(made.every.results);
  free(made.states);
  free(made.step.ids);
  free(made.step.mask);
  free(made.step.past);
  free(made.step.source);
  freeAll(made.encoder.rows, made.encoder.outputs);
  free(made.encoder.pointers);
  for (int64_t b = 0; made.beams && b < mostBeams; ++b)
    free(made.beams->ended[b].ids);
  free(made.beams);
  free(made.step.counts);
  free(made.step.pointers);
  free(made.candidates);
  free(made.counts);
  free(made.buffer);
  free(made.kept);
  free(generation);
}

const char *mille_generation_message(const mille_generation *generation) {
  return generation ? generation->message : "";
}

int64_t mille_generation_vocabulary(const mille_generation *generation) {
  return generation ? generation->vocabulary : 0;
}

int64_t mille_generation_context(const mille_generation *generation) {
  return generation ? generation->options.context : 0;
}

mille_status mille_generation_memory(mille_generation *generation,
                                     size_t *bytes) {
  if (!generation || !bytes)
    return MILLE_INVALID_ARGUMENT;
  size_t session = 0;
  const Status status = generation->runtimeSays(
      generation->runtime.session_memory(generation->session, &session));
  *bytes = status ? 0 : session + sizeof *generation + generation->ownBytes;
  return status;
}
}

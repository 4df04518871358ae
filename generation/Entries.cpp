// Finds the entries of a package that generate, and what they take and give.
// Must not run anything.
#include "generation/Creation.h"

#include <string.h>

namespace mille::generation {

namespace {

constexpr int64_t usualPiece = 512;
constexpr int64_t usualPieceOfEveryRow = 32; // keeps the logits of each row

class Search {
public:
  explicit Search(mille_generation &made)
      : made(made), runtime(made.runtime), options(made.options) {}

  Status findEntries();

private:
  Status findEntry(const char *name, Entry &entry);
  Status findPorts(const char *name, Entry &entry);
  Status findOutputs(Entry &entry);
  Status compareOutputs();
  Status findEncoder();
  Status packageSays(Status status) const {
    return generation::packageSays(made, status);
  }

  mille_generation &made;
  const mille_generation_runtime &runtime;
  mille_generation_options &options;
};

Status Search::findPorts(const char *entryName, Entry &entry) {
  mille_tensor tensor;
  for (size_t i = 0; i < entry.inputs; ++i) {
    if (Status status = packageSays(runtime.package_entry_input(
            made.package, entry.number, i, &tensor)))
      return status;
    const char *name = tensor.name;
    if (!strncmp(name, "decoder_", 8))
      name += 8;
    if (!strcmp(name, "input_ids")) {
      entry.ids = i;
    } else if (!strcmp(name, "past")) {
      entry.past = i;
    } else if (!strcmp(name, "attention_mask")) {
      entry.mask = i;
    } else if (!strcmp(name, "source_tokens")) {
      entry.sourceTokens = i;
      made.encoder.tokens = tensor.below ? tensor.below - 1 : 0;
    } else if (!tensor.optional)
      return made.say(MILLE_INVALID_ARGUMENT,
                      "entry %s wants the input %s, so no text can be "
                      "generated",
                      entryName, tensor.name);
  }
  if (Status status = findOutputs(entry))
    return status;
  const char *lacks = entry.ids == absent      ? "input_ids"
                      : entry.past == absent   ? "past"
                      : entry.logits == absent ? "logits"
                      : options.sequences > 1 && entry.mask == absent
                          ? "attention_mask, which several sequences need"
                          : nullptr;
  return lacks ? made.say(MILLE_INVALID_ARGUMENT,
                          "entry %s has no %s, so no text can be generated",
                          entryName, lacks)
               : MILLE_OK;
}

// The first dimension that a run chooses is the batch, and the other one, if
// any, the tokens.
Status Search::findOutputs(Entry &entry) {
  entry.results = zeros<Output>(made, entry.outputs);
  if (!entry.results)
    return made.say(MILLE_OUT_OF_MEMORY, "memory was refused");
  for (size_t i = 0; i < entry.outputs; ++i) {
    mille_tensor tensor;
    if (Status status = packageSays(runtime.package_entry_output(
            made.package, entry.number, i, &tensor)))
      return status;
    Output &output = entry.results[i];
    output = Output();
    output.name = tensor.name;
    bool batched = false;
    for (int d = 0; d < tensor.rank; ++d)
      if (tensor.sizes[d]) {
        output.everyRow |= batched;
        batched = true;
      } else
        (batched ? output.width : output.parts) *= tensor.shape[d];
    if (strcmp(tensor.name, "logits"))
      continue;
    entry.logits = i;
    entry.everyRow = output.everyRow;
    made.vocabulary = output.width;
  }
  return MILLE_OK;
}

// A sequence keeps the same outputs, whichever entry runs.
Status Search::compareOutputs() {
  const Entry &first = made.last.there ? made.last : made.every;
  made.outputs = first.results;
  made.outputCount = first.outputs;
  made.logits = first.logits;
  bool same = !made.last.there || !made.every.there ||
              made.every.outputs == made.outputCount;
  for (size_t o = 0; same && made.every.there && o < made.outputCount; ++o) {
    const Output &a = made.outputs[o], &b = made.every.results[o];
    same = !strcmp(a.name, b.name) && a.parts == b.parts && a.width == b.width;
  }
  return same ? MILLE_OK
              : made.say(MILLE_INVALID_ARGUMENT,
                         "the entries next and extend of model %s have other "
                         "outputs",
                         made.name);
}

Status Search::findEntry(const char *name, Entry &entry) {
  if (runtime.package_find_entry(made.package, name, &entry.number))
    return MILLE_OK;
  mille_entry_info info;
  if (Status status =
          packageSays(runtime.package_entry(made.package, entry.number, &info)))
    return status;
  entry.there = true;
  entry.inputs = info.inputs;
  entry.outputs = info.outputs;
  return findPorts(name, entry);
}

// The encoder takes ids or numbers: one input without a default.
Status Search::findEncoder() {
  Encoder &encoder = made.encoder;
  if (runtime.package_find_entry(made.package, "source", &encoder.number))
    return MILLE_OK;
  mille_entry_info info;
  if (Status status = packageSays(
          runtime.package_entry(made.package, encoder.number, &info)))
    return status;
  encoder.there = true;
  encoder.inputs = info.inputs;
  encoder.outputs = info.outputs;
  for (size_t i = 0; i < info.inputs; ++i) {
    mille_tensor tensor;
    if (Status status = packageSays(runtime.package_entry_input(
            made.package, encoder.number, i, &tensor)))
      return status;
    if (tensor.optional)
      continue;
    if (encoder.ids != absent || encoder.values != absent)
      return made.say(MILLE_INVALID_ARGUMENT,
                      "entry source wants the input %s besides another, so no "
                      "text can be generated",
                      tensor.name);
    (tensor.type == MILLE_TYPE_I32 ? encoder.ids : encoder.values) = i;
    encoder.below = tensor.below;
    encoder.elements = 1;
    for (int d = 1; d < tensor.rank; ++d)
      encoder.elements *= tensor.shape[d];
  }
  return MILLE_OK;
}

Status Search::findEntries() {
  if (Status status = findEncoder())
    return status;
  if (Status status = findEntry("next", made.last))
    return status;
  if (Status status = findEntry("extend", made.every))
    return status;
  if (!made.last.there && !made.every.there)
    return made.say(MILLE_INVALID_ARGUMENT,
                    "model %s has neither the entry next nor extend",
                    made.name);
  if (Status status = compareOutputs())
    return status;
  if (options.guesses && !made.every.there)
    return made.say(MILLE_INVALID_ARGUMENT,
                    "model %s has no entry extend, which guesses need",
                    made.name);
  if (!options.piece)
    options.piece = made.last.there ? usualPiece : usualPieceOfEveryRow;
  if (options.piece > options.context)
    options.piece = options.context;
  if (options.piece <= options.guesses)
    options.piece = options.guesses + 1;
  if (!options.source)
    options.source = options.context;
  return MILLE_OK;
}

} // namespace

Status findEntries(mille_generation &made) {
  return Search(made).findEntries();
}

} // namespace mille::generation

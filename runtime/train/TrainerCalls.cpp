// The C functions of trainers: null arguments and messages.
// Must not know how a trainer lies in memory.
#include "runtime/train/Checkpoint.h"

#include <string.h>

namespace {
mille_trainer *madeFor(mille_package *package) {
  mille_trainer *made = package->memory.make<mille_trainer>();
  if (made)
    package->owners.add(1);
  return made;
}

// The number of a note; noteCount: there is none of that name.
int noteNamed(const char *name) {
  int note = 0;
  while (name && note < mille::noteCount &&
         strcmp(mille::noteNames[note], name) != 0)
    ++note;
  return name ? note : (int)mille::noteCount;
}
} // namespace

extern "C" {

mille_status mille_trainer_create(mille_package *package,
                                  const mille_size *most, size_t count,
                                  int threads, mille_trainer **trainer) {
  if (trainer)
    *trainer = nullptr;
  if (!package)
    return MILLE_INVALID_ARGUMENT;
  mille::Message &message = package->message();
  if (!trainer || (!most && count))
    return message.set(MILLE_INVALID_ARGUMENT, "%s is null",
                       trainer ? "most" : "trainer");
  if (!package->model->training)
    return message.set(MILLE_INVALID_ARGUMENT,
                       "package %s infers and cannot be trained: compile it "
                       "with --train",
                       package->model->name);
  mille_trainer *made = madeFor(package);
  if (!made)
    return message.set(MILLE_OUT_OF_MEMORY,
                       "a trainer needs %zu bytes but memory was refused",
                       sizeof(mille_trainer));
  mille_status status = made->create(*package, most, count, threads);
  if (status != MILLE_OK) {
    made->destroy();
    return status;
  }
  package->log("trainer of %s: %llu bytes", package->model->name,
               (unsigned long long)made->bytes);
  *trainer = made;
  return MILLE_OK;
}

mille_status mille_trainer_close(mille_trainer *trainer) {
  if (trainer)
    trainer->destroy();
  return MILLE_OK;
}

static mille_status
takeBatch(mille_trainer *trainer, const mille_size *sizes, size_t count,
          const void *const *inputs, mille_step_report *report,
          mille_status (mille_trainer::*run)(const mille_size *, size_t,
                                             const void *const *,
                                             mille_step_report &)) {
  if (!trainer)
    return MILLE_INVALID_ARGUMENT;
  if (!sizes || !inputs)
    return trainer->message.set(MILLE_INVALID_ARGUMENT, "%s is null",
                                sizes ? "inputs" : "sizes");
  mille_step_report mine;
  return (trainer->*run)(sizes, count, inputs, report ? *report : mine);
}

mille_status mille_trainer_step(mille_trainer *trainer, const mille_size *sizes,
                                size_t count, const void *const *inputs,
                                mille_step_report *report) {
  return takeBatch(trainer, sizes, count, inputs, report,
                   &mille_trainer::train);
}

mille_status mille_trainer_gradients(mille_trainer *trainer,
                                     const mille_size *sizes, size_t count,
                                     const void *const *inputs,
                                     mille_step_report *report) {
  return takeBatch(trainer, sizes, count, inputs, report,
                   &mille_trainer::differentiate);
}

static mille_status copyNumbers(
    mille_trainer *trainer, const char *name, float *numbers, size_t count,
    mille_status (mille_trainer::*copy)(const char *, float *, size_t)) {
  if (!trainer)
    return MILLE_INVALID_ARGUMENT;
  if (!name || !numbers)
    return trainer->message.set(MILLE_INVALID_ARGUMENT, "%s is null",
                                name ? "numbers" : "name");
  return (trainer->*copy)(name, numbers, count);
}

mille_status mille_trainer_gradient(mille_trainer *trainer, const char *name,
                                    float *numbers, size_t count) {
  return copyNumbers(trainer, name, numbers, count,
                     &mille_trainer::copyGradient);
}

mille_status mille_trainer_weight(mille_trainer *trainer, const char *name,
                                  float *numbers, size_t count) {
  return copyNumbers(trainer, name, numbers, count, &mille_trainer::copyWeight);
}

mille_status mille_trainer_evaluate(mille_trainer *trainer,
                                    const mille_size *sizes, size_t count,
                                    const void *const *inputs, double *loss,
                                    int64_t *labels) {
  if (!trainer)
    return MILLE_INVALID_ARGUMENT;
  if (!sizes || !inputs || !loss || !labels)
    return trainer->message.set(MILLE_INVALID_ARGUMENT,
                                "sizes, inputs, loss or labels is null");
  return trainer->evaluate(sizes, count, inputs, *loss, *labels);
}

mille_status mille_trainer_set(mille_trainer *trainer, const char *name,
                               double value) {
  if (!trainer)
    return MILLE_INVALID_ARGUMENT;
  if (!name)
    return trainer->message.set(MILLE_INVALID_ARGUMENT, "name is null");
  return trainer->set(name, value);
}

mille_status mille_trainer_set_note(mille_trainer *trainer, const char *name,
                                    const char *text) {
  if (!trainer)
    return MILLE_INVALID_ARGUMENT;
  const int note = noteNamed(name);
  if (note == mille::noteCount || !text)
    return trainer->message.set(MILLE_INVALID_ARGUMENT,
                                "a trainer notes its seed, its data and its "
                                "mask, not %s",
                                name && text ? name : "null");
  mille::Note &into = trainer->notes[note];
  const size_t size = strlen(text);
  bool plain = size < sizeof into.text;
  for (size_t i = 0; plain && i < size; ++i)
    plain = text[i] >= ' ' && text[i] <= '~' && !strchr("\"\\{}", text[i]);
  if (!plain)
    return trainer->message.set(MILLE_INVALID_ARGUMENT,
                                "the note %s has %zu characters or one that is "
                                "not plain; it may have %zu",
                                name, size, sizeof into.text - 1);
  memcpy(into.text, text, size + 1);
  return MILLE_OK;
}

const char *mille_trainer_note(const mille_trainer *trainer, const char *name) {
  const int note = noteNamed(name);
  return trainer && note < mille::noteCount ? trainer->notes[note].text : "";
}

mille_status mille_trainer_save(mille_trainer *trainer, const char *path) {
  if (!trainer)
    return MILLE_INVALID_ARGUMENT;
  if (!path)
    return trainer->message.set(MILLE_INVALID_ARGUMENT, "path is null");
  mille_status status = trainer->checkWhole();
  return status == MILLE_OK ? mille::saveCheckpoint(*trainer, path) : status;
}

mille_status mille_trainer_load(mille_trainer *trainer, const char *path) {
  if (!trainer)
    return MILLE_INVALID_ARGUMENT;
  return path ? mille::loadCheckpoint(*trainer, path)
              : trainer->message.set(MILLE_INVALID_ARGUMENT, "path is null");
}

mille_status mille_trainer_steps(const mille_trainer *trainer, int64_t *steps) {
  if (!trainer || !steps)
    return MILLE_INVALID_ARGUMENT;
  *steps = trainer->step;
  return MILLE_OK;
}

mille_status mille_trainer_memory(const mille_trainer *trainer, size_t *bytes) {
  if (!trainer || !bytes)
    return MILLE_INVALID_ARGUMENT;
  *bytes = trainer->bytes;
  return MILLE_OK;
}

mille_status mille_trainer_report(const mille_trainer *trainer,
                                  mille_training_report *report) {
  if (!trainer || !report)
    return MILLE_INVALID_ARGUMENT;
  trainer->report(*report);
  return MILLE_OK;
}

mille_status mille_trainer_parameter_count(const mille_trainer *trainer,
                                           size_t *count) {
  if (!trainer || !count)
    return MILLE_INVALID_ARGUMENT;
  *count = trainer->parameters();
  return MILLE_OK;
}

mille_status mille_trainer_parameter(const mille_trainer *trainer, size_t index,
                                     mille_trained_parameter *parameter) {
  if (!trainer || !parameter || index >= trainer->parameters())
    return MILLE_INVALID_ARGUMENT;
  trainer->describe(index, *parameter);
  return MILLE_OK;
}

mille_status mille_trainer_cancel(mille_trainer *trainer) {
  return trainer ? trainer->cancel() : MILLE_INVALID_ARGUMENT;
}

const char *mille_trainer_message(const mille_trainer *trainer) {
  return trainer ? trainer->message.text : "trainer is null";
}
}

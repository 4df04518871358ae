// The functions of mille.h that take a trainer: each calls the runtime of the
// trainer's package. Must not know what they do.
#include "loader/Handles.h"

#include <stdlib.h>

extern "C" {

mille_status mille_trainer_create(mille_package *package,
                                  const mille_size *most, size_t count,
                                  int threads, mille_trainer **trainer) {
  if (!package || !trainer)
    return MILLE_INVALID_ARGUMENT;
  *trainer = nullptr;
  auto *fresh =
      static_cast<mille_trainer *>(mille::handleMemory(sizeof **trainer));
  if (!fresh)
    return MILLE_OUT_OF_MEMORY;
  mille_status status = package->functions().mille_trainer_create(
      package->inner, most, count, threads, &fresh->inner);
  if (status != MILLE_OK) {
    free(fresh);
    return status;
  }
  fresh->library = package->library;
  fresh->library->enter();
  *trainer = fresh;
  return status;
}

mille_status mille_trainer_close(mille_trainer *trainer) {
  if (!trainer)
    return MILLE_OK;
  mille_status status =
      trainer->functions().mille_trainer_close(trainer->inner);
  if (status != MILLE_OK)
    return status;
  trainer->library->leave();
  free(trainer);
  return MILLE_OK;
}

mille_status mille_trainer_step(mille_trainer *trainer, const mille_size *sizes,
                                size_t count, const void *const *inputs,
                                mille_step_report *report) {
  return MILLE_FORWARD(trainer, mille_trainer_step, sizes, count, inputs,
                       report);
}

mille_status mille_trainer_gradients(mille_trainer *trainer,
                                     const mille_size *sizes, size_t count,
                                     const void *const *inputs,
                                     mille_step_report *report) {
  return MILLE_FORWARD(trainer, mille_trainer_gradients, sizes, count, inputs,
                       report);
}

mille_status mille_trainer_gradient(mille_trainer *trainer, const char *name,
                                    float *numbers, size_t count) {
  return MILLE_FORWARD(trainer, mille_trainer_gradient, name, numbers, count);
}

mille_status mille_trainer_weight(mille_trainer *trainer, const char *name,
                                  float *numbers, size_t count) {
  return MILLE_FORWARD(trainer, mille_trainer_weight, name, numbers, count);
}

mille_status mille_trainer_evaluate(mille_trainer *trainer,
                                    const mille_size *sizes, size_t count,
                                    const void *const *inputs, double *loss,
                                    int64_t *labels) {
  return MILLE_FORWARD(trainer, mille_trainer_evaluate, sizes, count, inputs,
                       loss, labels);
}

mille_status mille_trainer_set(mille_trainer *trainer, const char *name,
                               double value) {
  return MILLE_FORWARD(trainer, mille_trainer_set, name, value);
}

mille_status mille_trainer_set_note(mille_trainer *trainer, const char *name,
                                    const char *text) {
  return MILLE_FORWARD(trainer, mille_trainer_set_note, name, text);
}

const char *mille_trainer_note(const mille_trainer *trainer, const char *name) {
  return trainer ? trainer->functions().mille_trainer_note(trainer->inner, name)
                 : "";
}

mille_status mille_trainer_save(mille_trainer *trainer, const char *path) {
  return MILLE_FORWARD(trainer, mille_trainer_save, path);
}

mille_status mille_trainer_load(mille_trainer *trainer, const char *path) {
  return MILLE_FORWARD(trainer, mille_trainer_load, path);
}

mille_status mille_trainer_steps(const mille_trainer *trainer, int64_t *steps) {
  return MILLE_FORWARD(trainer, mille_trainer_steps, steps);
}

mille_status mille_trainer_memory(const mille_trainer *trainer, size_t *bytes) {
  return MILLE_FORWARD(trainer, mille_trainer_memory, bytes);
}

mille_status mille_trainer_report(const mille_trainer *trainer,
                                  mille_training_report *report) {
  return MILLE_FORWARD(trainer, mille_trainer_report, report);
}

mille_status mille_trainer_parameter_count(const mille_trainer *trainer,
                                           size_t *count) {
  return MILLE_FORWARD(trainer, mille_trainer_parameter_count, count);
}

mille_status mille_trainer_parameter(const mille_trainer *trainer, size_t index,
                                     mille_trained_parameter *parameter) {
  return MILLE_FORWARD(trainer, mille_trainer_parameter, index, parameter);
}

mille_status mille_trainer_cancel(mille_trainer *trainer) {
  return MILLE_FORWARD(trainer, mille_trainer_cancel);
}

const char *mille_trainer_message(const mille_trainer *trainer) {
  return trainer ? trainer->functions().mille_trainer_message(trainer->inner)
                 : "trainer is null";
}
}

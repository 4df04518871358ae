// A package: a model's code with its weights, shared by sessions.
// Must not hold anything that a run changes.
#pragma once
#include "runtime/Atomic.h"
#include "runtime/Weights.h"

#include <pthread.h>

namespace mille {
struct Device;
}

struct mille_package {
  const mille_model *model = nullptr;
  mille_options options = MILLE_OPTIONS_INIT;
  mille::Memory memory = {};
  mille::Weights weights;
  uint32_t isa = 0; // number in model->isas
  pthread_mutex_t deviceLock = PTHREAD_MUTEX_INITIALIZER;
  mille::Device *devices = nullptr; // that sessions have asked for
  mille::Atomic<uint32_t> owners;   // the handle and its sessions
  uint64_t number = 0;              // no other package of this process has it

  mille_status open(const mille_model &of, const char *weightsPath);
  mille_status chooseIsa();
  // Of this thread: calls on one package may fail at the same time.
  mille::Message &message() const;
  void log(const char *format, ...) __attribute__((format(printf, 2, 3)));
  // The last owner gives the memory back.
  void leave();
};

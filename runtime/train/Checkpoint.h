// A trainer in a file: one safetensors file of its parameters, under their own
// names, and the optimizer's states, `state.m.NAME` and `state.v.NAME`. Must
// leave either the old file or the whole new one.
#pragma once
#include "runtime/train/Trainer.h"

namespace mille {

mille_status saveCheckpoint(mille_trainer &trainer, const char *path);
// Leaves the trainer as it was unless it succeeds, but for an error of the disk
// that the first of two readings did not meet.
mille_status loadCheckpoint(mille_trainer &trainer, const char *path);

// What a checkpoint says beside its tensors.
struct CheckpointFacts {
  int64_t step = 0;
  Note notes[noteCount];
  uint64_t hash = 0; // of these words and of the tensors
};

// Builds the file's header, or counts its bytes where `text` is null.
struct HeaderText {
  char *text = nullptr;
  uint64_t size = 0, room = 0;
  void add(const char *format, ...) __attribute__((format(printf, 2, 3)));
};

// The words of the metadata that come before the hash.
void writeFacts(const mille_trainer &trainer, const CheckpointFacts &facts,
                HeaderText &into);
// The whole header, filled up with spaces to a multiple of 8 bytes.
void writeHeader(const mille_trainer &trainer, const CheckpointFacts &facts,
                 HeaderText &into);

// Array number 0 holds the parameters, the others their states.
inline char *arrayOf(const mille_trainer &trainer, int number) {
  return number ? trainer.states[number - 1] : trainer.weights;
}

} // namespace mille

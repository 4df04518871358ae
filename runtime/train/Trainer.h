// A trainer: a session whose weights are its own, their gradients and the
// optimizer's states. Must not read or write files; Checkpoint does.
#pragma once
#include "runtime/Session.h"
#include "runtime/train/Optimizer.h"

namespace mille {

// A parameter is cut into stretches of so many numbers, which are tasks.
constexpr uint64_t stretchNumbers = 16384;

// A short text that a checkpoint keeps: what the caller wants to find again.
struct Note {
  char text[160] = "";
};
enum { noteSeed, noteData, noteCount };
extern const char *const noteNames[noteCount];

} // namespace mille

struct mille_trainer {
  mille_package *package = nullptr;
  mille_session *session = nullptr;
  const mille_training_info *training = nullptr;
  mille::Sizes most; // of a run: a part of a batch
  uint64_t features = 0;
  uint64_t bytes = 0; // with the session's
  char *slab = nullptr;

  // In the slab. Arrays of `extent` bytes: a parameter lies in each where it
  // lies among the package's weights.
  uint64_t extent = 0;
  char *weights = nullptr, *gradients = nullptr, *states[2] = {};
  float *losses = nullptr;        // of a run
  float *lossWeight = nullptr;    // 1 / number of labels
  int32_t *stepNumber = nullptr;  // and the part's first sequence
  const void **inputs = nullptr;  // of a run
  uint64_t *firstTask = nullptr;  // of each parameter, and the end
  mille::Lengths *sums = nullptr; // of each task
  double *numbers = nullptr;      // of each parameter

  int64_t step = 0;                // updates that are done
  double setRate = 0, setClip = 0; // NaN: the package's
  mille::Note notes[mille::noteCount];
  mille::Message message;

  mille_status create(mille_package &of, const mille_size *given, size_t count,
                      int threads);
  void destroy();

  // One update by a batch. inputs: as the entry has them.
  mille_status train(const mille_size *sizes, size_t count,
                     const void *const *given, mille_step_report &report);
  mille_status evaluate(const mille_size *sizes, size_t count,
                        const void *const *given, double &loss,
                        int64_t &labels);
  mille_status set(const char *name, double value);

  // A parameter's numbers in one of the arrays.
  float *at(char *array, uint64_t parameter) const {
    return (
        float *)(array +
                 package->weights.table[training->parameters[parameter].entry]);
  }
  int stateCount() const { return mille::statesOf(*training); }
  uint64_t parameters() const { return training->parameter_count; }
  uint64_t tasks() const { return firstTask[parameters()]; }
  mille::Stretch stretch(uint64_t task, uint64_t &parameter) const;
  // What is not finite after a step, in words.
  void describeFailure(double loss, char *text, size_t size) const;

private:
  void layOut(mille::Bytes &sum);
  mille_status check(const mille_entry &entry);
  mille_status countLabels(const mille_entry &entry, const mille::Sizes &sizes,
                           const void *const *given, int64_t &labels);
  mille_status runParts(uint32_t entry, const mille_size *sizes, size_t count,
                        const void *const *given, double &loss,
                        int64_t &labels);
  double gradientNorm();
  void applyUpdate(double rate, double scale);
};

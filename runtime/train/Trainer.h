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
enum { noteSeed, noteData, noteMask, noteCount };
extern const char *const noteNames[noteCount];

// Nanoseconds of the parts of a step.
struct StepTimes {
  int64_t forward = 0, backward = 0, update = 0;
};

// The stretches of a parameter.
inline uint64_t tasksOf(const mille_parameter_info &parameter) {
  return (parameter.elements + stretchNumbers - 1) / stretchNumbers;
}

} // namespace mille

struct mille_trainer {
  mille_package *package = nullptr;
  mille_session *session = nullptr;
  const mille_training_info *training = nullptr;
  mille_training_info now = {}; // the package's, with the numbers that were set
  mille::Sizes most;            // of a run: a part of a batch
  uint64_t features = 0;
  uint64_t bytes = 0; // with the session's
  char *slab = nullptr;
  uint64_t slabBytes = 0;

  // In the slab. Arrays of `extent` bytes: a parameter lies in each where it
  // lies among the package's weights.
  uint64_t extent = 0;
  char *weights = nullptr, *states[2] = {};
  float *losses = nullptr;       // of a run
  float *lossWeight = nullptr;   // 1 / number of labels
  int32_t *stepNumber = nullptr; // and the part's first sequence
  const void **inputs = nullptr; // of a run
  // Parameters in the order of their updates: portions, one after the other.
  // Portion k < training->updates is whole at call k + 1 of mille_update, the
  // last one at the step's end.
  uint64_t *order = nullptr;
  uint64_t *portions = nullptr;   // where each begins in `order`, and the end
  uint64_t *firstTask = nullptr;  // of each place in `order`, and the end
  mille::Lengths *sums = nullptr; // of each task
  double *squares = nullptr;      // of each task's gradient
  double *numbers = nullptr;      // of each parameter: that of its gradient
  double *trust = nullptr;        // of each parameter: LAMB's factor
  double *rates = nullptr;        // of each parameter: a factor of the rate
  double *decays = nullptr;       // of each parameter

  // Gradients have memory of their own. Layer by layer, portions share a place,
  // which holds zeros when none is at work; else they lie as weights do.
  char *gradients = nullptr;
  const uint64_t *gradientTable = nullptr; // as mille_run has it
  uint64_t gradientBytes = 0;
  bool layerByLayer = false;
  bool dirty = true;           // not all gradients are zero
  bool keepsGradients = false; // of all layers: they were asked for
  bool hasGradients = false;   // those that were asked for

  // The step that is under way, layer by layer.
  enum Phase : int32_t { computing, updating, cancelled };
  mille::Atomic<int32_t> phase;
  mille::Atomic<int32_t> cancels;  // calls of `cancel` that are under way
  mille::Atomic<int32_t> infinite; // the portion's gradient is not finite
  uint64_t updatesDone = 0;
  double rateNow = 0;
  bool halted = false; // it ended there: something is not finite
  // A step has failed between updates: the weights are of two steps.
  bool torn = false;

  int64_t step = 0;   // updates that are done
  double setRate = 0; // NaN: that of the schedule

  // What a report says.
  mille_step_report last = {};
  int64_t stepsMade = 0, sequencesSeen = 0, labelsSeen = 0;
  mille::StepTimes times;    // of the step that is under way
  mille::StepTimes allTimes; // of those before
  int64_t lossAt = 0;        // when the run had its losses; 0: not yet

  mille::Note notes[mille::noteCount];
  mille::Message message;

  mille_status create(mille_package &of, const mille_size *given, size_t count,
                      int threads);
  void destroy();

  // One update by a batch. inputs: as the entry has them.
  mille_status train(const mille_size *sizes, size_t count,
                     const void *const *given, mille_step_report &report);
  // The gradients by a batch, and what a step reports.
  mille_status differentiate(const mille_size *sizes, size_t count,
                             const void *const *given,
                             mille_step_report &report);
  mille_status copyGradient(const char *name, float *numbers, size_t count);
  mille_status copyWeight(const char *name, float *numbers, size_t count);
  mille_status evaluate(const mille_size *sizes, size_t count,
                        const void *const *given, double &loss,
                        int64_t &labels);
  mille_status set(const char *name, double value); // Numbers.cpp
  void report(mille_training_report &report) const; // Report.cpp
  void describe(uint64_t number, mille_trained_parameter &parameter) const;

  // A parameter's numbers in one of the arrays.
  float *at(char *array, uint64_t parameter) const {
    return (
        float *)(array +
                 package->weights.table[training->parameters[parameter].entry]);
  }
  float *gradientOf(uint64_t parameter) const {
    return (float *)(gradients +
                     gradientTable[training->parameters[parameter].entry]);
  }
  int stateCount() const { return mille::statesOf(*training); }
  const char *nameOf(uint64_t parameter) const {
    return training->names + training->parameters[parameter].name;
  }
  uint64_t parameters() const { return training->parameter_count; }
  uint64_t tasks() const { return firstTask[parameters()]; }
  mille::Stretch stretch(uint64_t task, uint64_t &parameter) const;
  // Ends a step that is under way, unless it has begun to change weights.
  mille_status cancel();
  // Begins what can be cancelled.
  void begin();
  // Says that the weights are those of no step, where they are.
  mille_status checkWhole();

private:
  // The number of a parameter of `count` numbers.
  mille_status findParameter(const char *name, size_t count, uint64_t &found);
  void layOut(mille::Bytes &sum);
  void copyWeights();
  void drawWeights();
  mille_status check(const mille_entry &entry);
  mille_status countLabels(const mille_entry &entry, const mille::Sizes &sizes,
                           const void *const *given, int64_t &labels);
  mille_status countNumbers(const float *values, uint64_t count,
                            int64_t &labels);
  mille_status runParts(uint32_t entry, const mille_size *sizes, size_t count,
                        const void *const *given, double &loss,
                        int64_t &labels);
  mille_status runPart(uint32_t entry, const mille_size *part, size_t count);
  void addLosses(const mille_entry &entry, const mille::Sizes &sizes,
                 double &loss) const;
  double lossOfRun() const; // of the session's
  mille_status compute(const mille_size *sizes, size_t count,
                       const void *const *given, mille_step_report &report);
  mille_status endLayers(mille_status status, const mille_size *sizes,
                         size_t count, const void *const *given, double &loss);

  // Numbers.cpp
  void takeGroup(uint64_t parameter);
  mille_status setOfModel(const char *name, double value);
  mille_status setMatching(const char *name, const char *pattern, double value);
  mille_status refuseNumber(const char *name, double value, const char *range,
                            bool ofPackage);

  // Report.cpp
  static int32_t seeLosses(void *trainer, const mille_stage &stage);
  void addStep(const mille_step_report &done, int64_t sequences);

  // Failure.cpp
  // A parameter or a gradient that is not finite; whether that is all to say.
  bool describeNumbers(double loss, char *text, size_t size) const;
  // Runs the step again up to the first launch whose result is not finite;
  // whether it has found one, behind a parameter.
  bool findPlace(const mille_size *sizes, size_t count,
                 const void *const *given, bool forward, char *text,
                 size_t size);
  mille_status failStep(const mille_size *sizes, size_t count,
                        const void *const *given, double loss, double norm);

  // Gradients.cpp
  void orderParameters();
  mille_status placeGradients();
  void placePortions(uint64_t *table, mille::Bytes &sum) const;
  void clearGradients();
  // The squares of the gradients of some places in `order`.
  void addSquares(uint64_t first, uint64_t end);
  void findSquares();
  double gradientNorm() const;
  // Updates some places in `order`; where `checked`, only what is finite, whose
  // squares it adds. Whether all was.
  bool applyUpdate(uint64_t first, uint64_t end, double rate, double scale,
                   bool checked);
  static int32_t layerDone(void *trainer);
};

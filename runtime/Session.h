// A session: the memory and the threads of one package's runs.
// Must not allocate after it was created.
#pragma once
#include "runtime/Package.h"
#include "runtime/Padding.h"
#include "runtime/Pool.h"
#include "runtime/Sizes.h"

namespace mille {
struct Experts;
}

// A thread's part of a session, which a kernel gets as its user context. Each
// lies in a cache line of its own.
struct alignas(64) mille_task {
  mille_session *session = nullptr;
  char *scratch = nullptr; // 64-byte aligned
  uint64_t scratchBytes = 0;
  uint64_t used = 0;               // end of the blocks in use
  uint64_t top = 0;                // where the last block begins
  uint64_t *nanoseconds = nullptr; // [kernels]
  uint32_t variant =
      0; // on a device: kernel number * 2 + row class, called now
  const mille::Experts *experts =
      nullptr; // on a device: of that call; null: none
};

namespace mille {

struct DevicePart;

// The run as the runtime sees it.
struct Run : mille_run {
  mille_session *session;
};

struct Counts {
  uint64_t calls, flops, weightBytes;
};

} // namespace mille

struct mille_session {
  mille_package *package = nullptr;
  uint32_t isa = 0;                  // number in the model's isas
  mille::DevicePart *part = nullptr; // on a device; null: the CPU
  bool planning = false;             // the program runs once without computing
  mille::Sizes most;
  int threads = 1;
  uint64_t bytes = 0; // with this struct
  char *slab = nullptr;

  // In the slab.
  char *arena = nullptr;
  mille_task *tasks = nullptr;     // [threads]
  void **defaults = nullptr;       // [inputs], null where required
  void **inputs = nullptr;         // [inputs], of this run
  mille::Counts *counts = nullptr; // [kernels]
  double *scales = nullptr;        // [schedules], NaN: as scheduled
  mille::Padding padding;

  mille::Run run = {};
  bool profiling = false;
  mutable mille::Atomic<int32_t> running; // a run is under way
  mille::Atomic<int32_t> cancelled;
  mille::Atomic<int32_t> failing; // somebody has written `failure`
  mille::Atomic<int32_t> failed;  // the first failing task's code
  mille::Message failure;
  mille::Message message;
  mille::Pool pool;

  mille_status create(mille_package &of, const mille::Sizes &sizes, int count,
                      const char *device);
  void destroy();

  // Sizes, and every pointer and value of a run's tensors.
  mille_status checkRun(const mille::Sizes &sizes, const void *const *given,
                        float *const *outputs);
  // Puts the given inputs, or defaults, into `inputs`.
  void takeInputs(const mille::Sizes &sizes, const void *const *given);
  // Constant defaults, once.
  void fillDefaults();
  // 0, or why tasks stop: a failure's code or MILLE_CANCELLED.
  int32_t stopped() const;
  void setSizes(const mille::Sizes &sizes);
  // The program, here or on a device. 0, or the code of what has failed.
  int32_t compute(const mille::Sizes &sizes);

  // Runs tasks 0 .. count - 1 on all threads.
  void share(mille::Pool::Function function, void *context, int64_t count);

private:
  void layOut(mille::Bytes &sum);
  mille_status chooseCode(const char *device);
  mille_status enterDevice(const char *wish);
  mille_status planOnDevice();
};

namespace mille {
inline mille_session &sessionOf(mille_run *run) {
  return *static_cast<Run *>(run)->session;
}

// Sequences of `tokens` rows; MILLE_TOKENS: the run's, without removed padding.
inline Sequences sequencesOf(mille_run *run, int64_t tokens) {
  if (tokens != MILLE_TOKENS)
    return {run->batch, tokens};
  const Padding &padding = sessionOf(run).padding;
  return padding.found ? Sequences{run->batch, run->tokens, padding.starts,
                                   padding.removed}
                       : Sequences{run->batch, run->tokens};
}
} // namespace mille

// A session: the memory and the threads of one package's runs.
// Must not allocate after it was created.
#pragma once
#include "runtime/Package.h"
#include "runtime/Padding.h"
#include "runtime/Pool.h"
#include "runtime/Sizes.h"
#include "runtime/StateRuns.h"

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
  // On a device: the rows that each sequence's state holds before the run, i32
  // [sequences], where that call's keys are a state's; else null.
  const mille_buffer *past = nullptr;
};

namespace mille {

struct DevicePart;

// The states of a session on a device, which has the memory of all. Addresses
// stand for it: for whole numbers, which the host's steps read too, those of
// the host's memory; for all others some that no memory of a process has.
struct DeviceStates {
  static char *first() { return (char *)((uint64_t)1 << 56); }
  char *host = nullptr; // of whole numbers
  uint64_t hostBytes = 0, bytes = 0;

  // Whether a state is in the device's memory alone.
  static bool isApart(const void *state) {
    return (uint64_t)state >= (uint64_t)first();
  }
};

// The run as the runtime sees it.
struct Run : mille_run {
  mille_session *session;
};

struct Counts {
  uint64_t calls, flops, weightBytes;
};

// Tables that were resized to an image's grid, until a run has another one.
struct PatchTables {
  struct Size {
    int64_t down = 0, across = 0; // 0: not computed yet
  };
  Size *sizes = nullptr; // [tables]
  float *rows = nullptr; // of each table [tokens, its columns]
  int64_t tokens = 0;    // of the session's largest image
};

// A session's memory for runs of one entry.
struct EntryMemory {
  bool usable = false;       // the session has all of its sizes
  void **defaults = nullptr; // [inputs], null where required
  Padding padding;
  PatchTables tables;
};

} // namespace mille

struct mille_session {
  mille_package *package = nullptr;
  uint32_t isa = 0;                  // number in the model's isas
  mille::DevicePart *part = nullptr; // on a device; null: the CPU
  bool planning = false;             // the program runs once without computing
  mille::DeviceStates deviceStates;
  mille::Sizes most;
  int threads = 1;
  uint64_t bytes = 0; // with this struct
  char *slab = nullptr;

  // In the slab.
  char *arena = nullptr;
  mille_task *tasks = nullptr;           // [threads]
  mille::EntryMemory *entries = nullptr; // [entries]
  void **inputs = nullptr;               // [inputs], of this run
  void **states = nullptr;               // the buffers of all entries of states
  mille::StateWindows windows;           // of these, on a CPU
  mille::StateRuns *runs = nullptr;      // [states]
  // A table of panels for rows that no other sequence holds: zeros.
  int32_t *unmoved = nullptr;
  int64_t unmovedPanels = 0;
  mille::Counts *counts = nullptr; // [kernels]
  double *scales = nullptr;        // [schedules], NaN: as scheduled
  // Of attention whose keys are taken apart: each sequence's parts, and how
  // many tasks of a sequence's heads have given theirs.
  char *parts = nullptr;
  int64_t partBytes = 0; // of a sequence
  mille::Atomic<uint32_t> *partsDone = nullptr;

  mille::Run run = {};
  // What mille_update calls; null: nothing.
  int32_t (*update)(void *context) = nullptr;
  void *updateContext = nullptr;
  // Sees each stage of a launch when it is computed; null: nobody. The run ends
  // where it gives a code.
  int32_t (*watch)(void *context, const mille_stage &stage) = nullptr;
  void *watchContext = nullptr;
  // Gets where rows go, choice by choice; null: nobody.
  void (*seeChoice)(void *context, const mille_choice *choice) = nullptr;
  void *seeContext = nullptr;
  mille::Sizes sizes;                   // of this run
  const mille_entry *entry = nullptr;   // of this run
  mille::EntryMemory *memory = nullptr; // of this run's entry
  bool keepPadding = false;
  int64_t dropoutSeed = -1; // -1: the model's
  bool profiling = false;
  mutable mille::Atomic<int32_t> running; // a run is under way
  int32_t started = 0;                    // what `start` gave
  mille::Atomic<int32_t> waiting;         // a started run was not waited for
  mille::Atomic<int32_t> cancelled;
  mille::Atomic<int32_t> failing; // somebody has written `failure`
  mille::Atomic<int32_t> failed;  // the first failing task's code
  mille::Message failure;
  mille::Message message;
  mille::Pool pool;

  mille_status create(mille_package &of, const mille::Sizes &sizes, int count,
                      const char *device);
  void destroy();

  // Makes the entry of that number and the sizes those of this run. What the
  // entry does not have is 0, and what its states have is the session's.
  void choose(uint32_t number, const mille::Sizes &given);
  // Sizes, and every pointer and value of a run's tensors.
  mille_status checkRun(const void *const *given, float *const *outputs);
  // Puts the given inputs, or defaults, into `inputs`.
  void takeInputs(const void *const *given);
  // Constant defaults, once.
  void fillDefaults();
  // Whether its code is a device's, which it enters last.
  bool isOnDevice() const { return package->model->isas[isa].backend; }
  // Removed padding would make every run another one to a device.
  bool keepsPadding() const { return keepPadding || (part && entry->states); }
  // 0, or why tasks stop: a failure's code or MILLE_CANCELLED.
  int32_t stopped() const;
  // The program, here or on a device. `start` may return before a device is
  // done, `end` waits for it. 0, or the code of what has failed.
  int32_t start();
  int32_t end(int32_t started);

  // Runs tasks 0 .. count - 1 on all threads.
  void share(mille::Pool::Function function, void *context, int64_t count);

private:
  void layOut(mille::Bytes &sum);
  void layOutTasks(mille::Bytes &sum);
  void layOutEntry(uint32_t number, mille::Bytes &sum);
  mille_status checkSizes();
  mille_status checkInput(const mille_tensor_info &info, const void *given);
  mille_status checkPast(const void *const *given);
  mille_status checkWindow(int64_t sequence, int64_t past);
  // `wish`: which device, where the code is for one.
  mille_status chooseCode(const char *device, const char *&wish);
  mille_status enterDevice(const char *wish);
  mille_status planOnDevice();
};

namespace mille {
inline mille_session &sessionOf(mille_run *run) {
  return *static_cast<Run *>(run)->session;
}

// Sequences of `tokens` rows; MILLE_RUN_TOKENS: the run's, without removed
// padding.
inline Sequences sequencesOf(mille_run *run, int64_t tokens) {
  if (tokens != MILLE_RUN_TOKENS)
    return {run->batch, tokens};
  const Padding &padding = sessionOf(run).memory->padding;
  return padding.found ? Sequences{run->batch, run->tokens, padding.starts,
                                   padding.removed}
                       : Sequences{run->batch, run->tokens};
}
} // namespace mille

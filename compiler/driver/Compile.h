// The compiler as a library: a model in, a package out. Must not print, install
// handlers or change the state of the process otherwise.
#pragma once
#include "compiler/Status.h"
#include "compiler/driver/Diagnostics.h"
#include "compiler/driver/Stages.h"
#include "compiler/import/ImageSize.h"
#include "compiler/kernels/KernelInfo.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>

namespace mille {

// The memory that a step of training may take.
struct MemoryLimit {
  int64_t bytes = 0;             // 0: no limit
  int64_t besides = 0;           // of these, what a plan does not know
  int64_t batch = 8, tokens = 0; // of a step; 0: the most that the model takes
};

// What `cache` asks of a package's keys and values beside what its dtype says:
// "bf16" asks nothing of any package but one in f32.
inline std::string cacheBeside(const std::string &dtype,
                               const std::string &cache) {
  return cache == "bf16" && dtype != "f32" ? "" : cache;
}

// The options of `mille compile`; see docs/commands.md.
struct CompileOptions {
  std::string model, folder;
  std::vector<std::string> targets; // empty: the host's best and x86-64-v3
  std::string dtype = "f32";        // the text of a DtypeChoice
  std::string keyCache;  // of keys and values: f16, int8; "": as the dtype says
  std::string calibrate; // a text that blocks are rounded for; "": none
  std::vector<std::string> requireFused;
  bool bitExact = false;
  std::optional<std::vector<std::string>>
      rewrites; // absent: all that save work
  bool foldSchedules = false;
  bool hiddenStates = false;
  // Names of entries to add to those of the model; "all": every possible one.
  std::vector<std::string> entries;
  bool embedWeights = false;
  bool train = false;              // the package trains, and has no other entry
  std::string recompute = "cheap"; // as the pass differentiate takes it
  MemoryLimit memory;              // chooses what is computed anew
  std::optional<Stage> stopAfter;
  std::string weights, name;
  std::optional<ImageSize> imageSize;
  bool anyImageSize = false; // each run chooses it, up to the next
  std::optional<ImageSize> mostImageSize;
  std::vector<std::string> remarks; // "rewrite", "fuse", "plan"
  unsigned jobs = 0;                // 0: as many as cores
  bool cache = true;
};

// Functions that follow a compile, called from any thread. Empty ones are not
// called.
struct Observer {
  std::function<void(const std::string &what)> working;  // "": idle
  std::function<void(const std::string &text)> imported; // the model's text
  // What is computed anew in a step, and the bytes that it takes.
  std::function<void(const std::string &recompute, int64_t bytes)> chose;
  std::function<bool(Stage)> breaks; // for tests: true fails as a bug would
};

// The options, and settings that have no option.
struct CompileRequest : CompileOptions {
  CompileRequest() = default;
  explicit CompileRequest(CompileOptions options)
      : CompileOptions(std::move(options)) {}

  TileRanks tiles;     // the result of tuning
  bool certify = true; // measure rewrites, if the sample is small
  std::optional<ImageSize> imageSizeAtHand; // see ImportOptions
  // The folder of libmille.a and libmille_kernel_support.a. Empty: `lib` beside
  // the folder of the running program.
  std::string runtimeFolder;
  Observer observer;
};

// Compiles to a package in request.folder. With request.stopAfter it stops
// there and writes the IR of that stage to `ir`. Every mistake goes to
// `diagnostics`; the status says whose it is. Several threads may call this at
// once. The process notices two things: while a package is linked, LLVM handles
// signals in order to remove its temporary files; and at the first kernel
// HL_LLVM_ARGS is set for a moment, since Halide takes that option from the
// environment only.
Status compile(const CompileRequest &request, Diagnostics &diagnostics,
               llvm::raw_ostream &ir = llvm::nulls());

// Whether `name` is an identifier of C with at most 63 characters.
bool isModelName(llvm::StringRef name);

} // namespace mille

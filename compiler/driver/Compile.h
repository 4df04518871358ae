// The compiler as a library: a model in, a package out. Must not print or
// install handlers, and leaves the process as it was.
#pragma once
#include "compiler/Status.h"
#include "compiler/driver/Diagnostics.h"
#include "compiler/driver/Stages.h"
#include "compiler/import/ImageSize.h"
#include "compiler/kernels/KernelInfo.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>

namespace mille {

// What the command line of `mille compile` can say; see docs/commands.md.
struct CompileOptions {
  std::string model, folder;
  std::vector<std::string> targets; // empty: the host's best and x86-64-v3
  std::string dtype = "f32";        // one of dtypes in program/Targets.h
  std::vector<std::string> requireFused;
  bool bitExact = false;
  std::optional<std::vector<std::string>> rewrites; // absent: where they save
  bool foldSchedules = false;
  bool hiddenStates = false;
  // Entries beside those that the model has, by name; "all": all there can be.
  std::vector<std::string> entries;
  bool embedWeights = false;
  std::optional<Stage> stopAfter;
  std::string weights, name;
  std::optional<ImageSize> imageSize;
  std::vector<std::string> remarks; // "rewrite", "fuse", "plan"
  unsigned jobs = 0;                // 0: as many as cores
  bool cache = true;
};

// Follows a compile, from any thread. What is empty is not called.
struct Observer {
  std::function<void(const std::string &what)> working;  // "": with nothing now
  std::function<void(const std::string &text)> imported; // the model's text
  std::function<bool(Stage)> breaks; // for tests: fail as if by our bug
};

// Options, and what no option says.
struct CompileRequest : CompileOptions {
  CompileRequest() = default;
  explicit CompileRequest(CompileOptions options)
      : CompileOptions(std::move(options)) {}

  TileRanks tiles;     // what tuning found
  bool certify = true; // measure rewrites where that is quick
  std::optional<ImageSize> imageSizeAtHand; // see ImportOptions
  // Holds libmille.a and libmille_kernel_support.a. Empty: lib, beside the
  // folder of the running program.
  std::string runtimeFolder;
  Observer observer;
};

// Compiles to a package in request.folder, or as far as request.stopAfter, and
// writes the IR of that stage to `ir`. Every mistake is reported; the status
// says whose it is. Calls may follow each other and run at once in several
// threads. While a package is linked, LLVM handles signals to remove its
// temporary files. Halide takes an option from the environment only: at the
// first kernel of a process HL_LLVM_ARGS is set for a moment.
Status compile(const CompileRequest &request, Diagnostics &diagnostics,
               llvm::raw_ostream &ir = llvm::nulls());

// Whether C takes it as a name, of at most 63 characters.
bool isIdentifier(llvm::StringRef name);

} // namespace mille

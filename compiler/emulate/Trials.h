// Runs a kernel under many schedules, and with its guards left out one by one.
// Must not know what the kernel computes: it is told what is wrong.
#pragma once
#include "compiler/Status.h"
#include "compiler/emulate/Run.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace mille::emulate {

struct Trials {
  unsigned seeds = 3, firstSeed = 1;
  // "": nothing is left out; "all": one after the other; else KIND:NUMBER.
  std::string leftOut;
};

// What is wrong with the results: an empty text if nothing is.
using Judge = llvm::function_ref<std::string(const std::vector<Buffer> &)>;

// Writes a line per schedule or per guard. Status::bug where a schedule fails,
// or where a guard is left out and nobody notices; commandLine for a name that
// no guard has. `buffers` are what each run begins with, and at the end the
// results of the last one that had nothing left out.
Status run(const Kernel &kernel, const LaunchCase &launch,
           std::vector<Buffer> &buffers, const Trials &trials, Judge judge,
           llvm::raw_ostream &out);

} // namespace mille::emulate

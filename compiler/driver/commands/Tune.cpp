// Measures tiles in whole packages, so that kernels stream their weights as in
// real runs. Must not choose by differences as small as those between repeats.
#include "compiler/driver/Command.h"
#include "compiler/driver/Compiler.h"
#include "compiler/driver/Console.h"
#include "compiler/driver/Progress.h"
#include "compiler/driver/Scratch.h"
#include "compiler/driver/package/Compiled.h"
#include "compiler/driver/package/SeededInputs.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"

#include <map>

using namespace mille;

namespace {

constexpr unsigned mostRanks = 8, rounds = 9;
constexpr double worthwhile = 0.98; // as a share of the time of rank 0

// A package whose kernels have tiles of one rank, with a session to run.
struct Candidate {
  Scratch scratch;
  Package package;
  std::unique_ptr<Compiled> compiled;
  std::map<std::string, double> nanoseconds; // by kernel, of its fastest run
};

// The best tile of a kernel so far, and its time as a share of that of rank 0.
struct Choice {
  unsigned rank = 0;
  double share = 1;
  std::string tile;
};
using Choices = std::map<std::string, Choice>; // by kernel

} // namespace

static std::string tileIn(const Package::Kernel &kernel,
                          const std::string &isa) {
  for (const Package::Kernel::Tile &tile : kernel.tiles)
    if (tile.isa == isa)
      return tile.text;
  return {};
}

static Status make(const CompileOptions &options, unsigned rank,
                   mlir::MLIRContext &context, Candidate &made) {
  CompileRequest trial = requestOf(options);
  trial.folder = made.scratch.folder();
  trial.remarks.clear();
  trial.certify = false;
  trial.tiles.others = rank;
  if (Status status = compileModel(trial, context, llvm::nulls());
      failed(status))
    return status;
  if (Status status = findPackage(trial.folder, context, made.package);
      failed(status))
    return status;
  if (Status status =
          Compiled::open(made.package, "", context, made.compiled, {});
      failed(status))
    return status;
  return made.compiled->bind(seededInputs(made.package.entries.front(),
                                          sizesWithin(made.package, 1, 128, 32),
                                          /*withMask=*/false),
                             /*threads=*/1);
}

static Status runOnce(Candidate &candidate, bool counts) {
  Compiled &compiled = *candidate.compiled;
  if (Status status = compiled.profile(true); failed(status))
    return status;
  if (Status status = compiled.runBound(); failed(status))
    return status;
  for (const mille_profile &kernel : compiled.kernels())
    if (counts && kernel.calls) {
      double took = kernel.nanoseconds;
      auto [entry, isNew] =
          candidate.nanoseconds.try_emplace(kernel.name, took);
      entry->second = std::min(entry->second, took);
    }
  return compiled.profile(false);
}

// Runs both in alternation, so that a disturbance of the machine hits both.
static Status measureTogether(Candidate &model, Candidate &other) {
  model.nanoseconds.clear();
  for (unsigned round = 0; round <= rounds; ++round) // the first warms up
    for (Candidate *candidate : {&model, &other})
      if (Status status = runOnce(*candidate, round > 0); failed(status))
        return status;
  return Status::done;
}

// Chooses the tile of `other` for each kernel that has a different tile there
// and took less time. Returns whether any kernel has a different tile.
static bool choose(const Candidate &model, const Candidate &other,
                   unsigned rank, const std::string &isa, Choices &choices) {
  bool differs = false;
  for (const Package::Kernel &kernel : other.package.kernels) {
    auto before = model.nanoseconds.find(kernel.name);
    auto after = other.nanoseconds.find(kernel.name);
    std::string tile = tileIn(kernel, isa);
    auto same = [&](const Package::Kernel &own) {
      return own.name == kernel.name && tileIn(own, isa) == tile;
    };
    if (before == model.nanoseconds.end() || after == other.nanoseconds.end() ||
        llvm::any_of(model.package.kernels, same))
      continue;
    differs = true;
    const double share = after->second / before->second;
    Choice &choice = choices[kernel.name];
    if (share < worthwhile && share < choice.share)
      choice = {rank, share, tile};
  }
  return differs;
}

static Status measureRanks(const CompileOptions &options,
                           mlir::MLIRContext &context, std::string &isa,
                           Choices &choices) {
  Candidate model;
  if (Status status = make(options, 0, context, model); failed(status))
    return status;
  isa = model.compiled->isa();
  CompileOptions one = options;
  one.targets = {isa};
  bool differs = true;
  for (unsigned rank = 1; differs && rank < mostRanks; ++rank) {
    Candidate other;
    if (Status status = make(one, rank, context, other); failed(status))
      return status;
    showProgress("measuring tiles of rank " + llvm::Twine(rank));
    if (Status status = measureTogether(model, other); failed(status))
      return status;
    differs = choose(model, other, rank, isa, choices);
  }
  return Status::done;
}

Status mille::tuneCommand(const CompileOptions &options,
                          mlir::MLIRContext &context, llvm::raw_ostream &out) {
  std::string isa;
  Choices choices;
  if (Status status = measureRanks(options, context, isa, choices);
      failed(status))
    return status;
  CompileRequest best = requestOf(options);
  for (const auto &[name, choice] : choices)
    if (choice.rank) {
      best.tiles.chosen[{name, isa}] = choice.rank;
      out << name << ": " << choice.tile
          << llvm::format(": %.1f %% less time than with the model's tile\n",
                          100 - 100 * choice.share);
    }
  out << "tiles measured for " << isa << ": of " << choices.size()
      << " kernels with a choice, " << best.tiles.chosen.size()
      << " get another than the model of the core gives\n";
  return compileModel(best, context, out);
}

// Schedules and guards. Must not know what a kernel computes.
#include "compiler/emulate/Trials.h"

using namespace mille;
using namespace mille::emulate;

static std::string nameOf(const Place &place) {
  return std::string(guardName(place.guard)) + ":" +
         std::to_string(place.number);
}

namespace {
class Runner {
public:
  Runner(const Kernel &kernel, const LaunchCase &launch,
         std::vector<Buffer> &buffers, const Trials &trials, Judge judge,
         llvm::raw_ostream &out)
      : kernel(kernel), launch(launch), buffers(buffers), first(buffers),
        trials(trials), judge(judge), out(out),
        reached(kernel.places().size()) {}

  Status schedules();
  Status guards();

private:
  // An empty text, or what the emulator or the judge says.
  std::string once(unsigned seed, int broken);
  bool isCaught(size_t place);

  const Kernel &kernel;
  const LaunchCase &launch;
  std::vector<Buffer> &buffers;
  const std::vector<Buffer> first;
  const Trials &trials;
  Judge judge;
  llvm::raw_ostream &out;
  std::vector<char> reached;
};
} // namespace

std::string Runner::once(unsigned seed, int broken) {
  LaunchCase one = launch;
  one.seed = seed;
  one.broken = broken;
  std::vector<char> came;
  one.reached = &came;
  buffers = first;
  std::string problem = kernel.run(one, buffers);
  if (broken < 0)
    for (size_t i = 0; i < came.size(); ++i)
      reached[i] |= came[i];
  return problem.empty() ? judge(buffers) : problem;
}

Status Runner::schedules() {
  for (unsigned i = 0; i < trials.seeds; ++i) {
    unsigned seed = trials.firstSeed + i;
    if (std::string problem = once(seed, -1); !problem.empty()) {
      out << "seed " << seed << ": " << problem << "\n";
      return Status::bug;
    }
  }
  out << "passed with " << trials.seeds << " seed(s)\n";
  return Status::done;
}

bool Runner::isCaught(size_t place) {
  const Place &guard = kernel.places()[place];
  unsigned caught = 0;
  std::string words;
  for (unsigned i = 0; i < trials.seeds; ++i)
    if (std::string problem = once(trials.firstSeed + i, int(place));
        !problem.empty()) {
      ++caught;
      words = words.empty() ? problem : words;
    }
  out << "without " << nameOf(guard) << " (" << guard.op
      << (guard.where.empty() ? "" : " " + guard.where) << "): ";
  bool harmless = !guard.harmless.empty();
  if (caught)
    out << "caught with " << caught << " of " << trials.seeds << ": "
        << llvm::StringRef(words).split('\n').first << "\n";
  else if (harmless)
    out << "harmless: " << guard.harmless << "\n";
  else if (!reached[place])
    out << "NOT REACHED by this launch\n";
  else
    out << "NOT CAUGHT\n";
  if (caught && harmless)
    out << "  but it is said to be harmless: " << guard.harmless << "\n";
  return bool(caught) != harmless;
}

Status Runner::guards() {
  unsigned tried = 0, good = 0;
  for (size_t i = 0; i < kernel.places().size(); ++i) {
    const Place &place = kernel.places()[i];
    if (place.guard == Guard::none ||
        (trials.leftOut != "all" && trials.leftOut != nameOf(place)))
      continue;
    ++tried;
    good += isCaught(i);
  }
  if (!tried && trials.leftOut != "all") {
    out << "the kernel has no '" << trials.leftOut << "'\n";
    return Status::commandLine;
  }
  out << good << " of " << tried << " guards matter or are known not to\n";
  return good == tried ? Status::done : Status::bug;
}

Status mille::emulate::run(const Kernel &kernel, const LaunchCase &launch,
                           std::vector<Buffer> &buffers, const Trials &trials,
                           Judge judge, llvm::raw_ostream &out) {
  Runner runner(kernel, launch, buffers, trials, judge, out);
  Status status = runner.schedules();
  if (failed(status) || trials.leftOut.empty())
    return status;
  std::vector<Buffer> results = buffers;
  status = runner.guards();
  buffers = results;
  return status;
}

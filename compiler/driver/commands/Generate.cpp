// `mille generate`: a package continues a prompt until its end, a stop, or a
// limit. Must not know how a token is drawn or said.
#include "compiler/driver/Command.h"
#include "compiler/driver/commands/OneRun.h"
#include "compiler/driver/generate/Answer.h"
#include "compiler/driver/generate/Continuation.h"
#include "compiler/driver/generate/Prompt.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"

#include <chrono>
#include <csignal>

using namespace mille;

namespace {

// Ctrl-C ends the answer, not the process.
volatile std::sig_atomic_t isInterrupted = 0;

class Interruptible {
public:
  Interruptible() {
    isInterrupted = 0;
    before = std::signal(SIGINT, [](int) { isInterrupted = 1; });
  }
  ~Interruptible() { std::signal(SIGINT, before); }

private:
  void (*before)(int);
};

double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Stats {
  size_t prompt = 0, tokens = 0; // tokens: steps after the prompt's
  double promptSeconds = 0, seconds = 0;

  void print(llvm::raw_ostream &out) const {
    out << "prompt " << prompt << " tokens, "
        << llvm::format("%.1f", prompt / promptSeconds) << " a second; "
        << tokens << " more";
    if (tokens)
      out << ", " << llvm::format("%.1f", tokens / seconds) << " a second";
    out << '\n';
  }
};

Status checkPrompt(const Package &package, const GenerateOptions &options,
                   llvm::ArrayRef<int32_t> ids, int64_t vocabulary,
                   mlir::MLIRContext &context) {
  for (int32_t id : ids)
    if (id >= vocabulary) {
      mlir::emitError(mlir::UnknownLoc::get(&context))
          << "the prompt has id " << id << " but the vocabulary of package "
          << package.name << " has " << vocabulary;
      return Status::input;
    }
  return Status::done;
}

Status generate(const GenerateOptions &options, Continuation &sequence,
                llvm::ArrayRef<int32_t> prompt, int64_t room, Answer &answer,
                Stats &stats) {
  Interruptible interruptible;
  double start = now();
  if (Status status = sequence.append(prompt); failed(status))
    return status;
  stats.prompt = prompt.size();
  stats.promptSeconds = now() - start;
  start = now();
  for (int64_t n = 0; n < options.maxTokens && !isInterrupted; ++n) {
    int32_t id = sample(options.sampling, sequence.logits(), sequence.held(),
                        sequence.held().size());
    if (answer.isEnd(id))
      break;
    if (Status status = answer.push(id); failed(status))
      return status;
    const bool isFull = int64_t(sequence.held().size()) == room;
    if (answer.stopped() || n + 1 == options.maxTokens || isFull)
      break;
    if (Status status = sequence.append(id); failed(status))
      return status;
    ++stats.tokens;
  }
  stats.seconds = now() - start;
  return answer.finish();
}

// How many tokens the session holds.
Status findRoom(const Package &package, const GenerateOptions &options,
                int64_t prompt, mlir::MLIRContext &context, int64_t &room) {
  int64_t most = INT32_MAX;
  for (const auto &[name, limit] : package.sizes)
    if (name == sizes::context && limit)
      most = limit;
  room = options.context ? options.context
                         : std::min(most, prompt + options.maxTokens);
  if (room > most)
    return refuseOptions("--context is " + llvm::Twine(room) + " but package " +
                             package.name + " holds at most " +
                             llvm::Twine(most),
                         "mille inspect DIR");
  if (prompt <= room)
    return Status::done;
  mlir::emitError(mlir::UnknownLoc::get(&context))
      << "the prompt has " << prompt << " tokens but there is room for "
      << room;
  return Status::input;
}

} // namespace

Status mille::generateCommand(const GenerateOptions &options,
                              mlir::MLIRContext &context,
                              llvm::raw_ostream &out) {
  Package package;
  if (Status status = findPackage(options.subject, context, package);
      failed(status))
    return status;
  if (!package.entry("next"))
    return refuseOptions("package " + package.name +
                             " has no entry 'next'; its entries are " +
                             package.entryNames(),
                         "mille compile MODEL --entries=next -o DIR");
  OpenText text(nullptr, mille_text_close);
  if (!options.ids || llvm::sys::fs::exists(package.file("tokens")))
    if (Status status = openText(package, context, text); failed(status))
      return status;
  std::vector<int32_t> prompt;
  int64_t room = 0;
  if (Status status = promptIds(options, text.get(), context, prompt);
      failed(status))
    return status;
  if (Status status = findRoom(package, options, prompt.size(), context, room);
      failed(status))
    return status;
  std::unique_ptr<Continuation> sequence;
  if (Status status =
          Continuation::open(package, context, options.threads, room, sequence);
      failed(status))
    return status;
  if (Status status = checkPrompt(package, options, prompt,
                                  sequence->vocabulary(), context);
      failed(status))
    return status;
  Answer answer(text.get(), options.stops, options.json, context, out);
  if (Status status = answer.begin(); failed(status))
    return status;
  Stats stats;
  if (Status status = generate(options, *sequence, prompt, room, answer, stats);
      failed(status))
    return status;
  if (options.stats)
    stats.print(llvm::errs());
  return Status::done;
}

// `mille generate`: continues a prompt or answers a conversation until the
// model ends, a stop text appears or a limit is reached. Must not know how a
// token is drawn or becomes text.
#include "compiler/driver/Command.h"
#include "compiler/driver/Console.h"
#include "compiler/driver/generate/Answer.h"
#include "compiler/driver/generate/BeamSearch.h"
#include "compiler/driver/generate/CachedPackage.h"
#include "compiler/driver/generate/Interruption.h"
#include "compiler/driver/generate/LogitsFile.h"
#include "compiler/driver/generate/Prompt.h"
#include "compiler/driver/generate/SourceInput.h"
#include "compiler/driver/generate/Stats.h"
#include "compiler/driver/package/ChosenCode.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"

#include <cmath>
#include <iostream>

using namespace mille;

namespace {

class Generation {
public:
  Generation(const GenerateOptions &options, mlir::MLIRContext &context,
             llvm::raw_ostream &out)
      : options(options), context(context), out(out),
        drawnFrom(options.logits) {}

  Status open();
  // Continues the prompt of the options.
  Status once();
  // Takes each line of the standard input as a turn and answers it.
  Status chat();

private:
  Status openSequence(int64_t prompt);
  Status encode(llvm::ArrayRef<int32_t> prompt, size_t &ran);
  const GenerationRules *rules() const {
    return hasEncoder(package) ? &own : nullptr;
  }
  Status next(int64_t number, int32_t &id);
  Status search(Answer &answer, Stats &stats);
  Status openDraft();
  bool guesses() const;
  Status checkEntry(const Package &in, llvm::StringRef entry);
  Status checkVocabularies(const mille_text *other);
  Status guess();
  Status chooseOne(Answer &answer, int64_t number, bool &isEnd, int32_t &id);
  Status logprobs(int32_t id, llvm::json::Object &facts);
  Status checkPrompt(llvm::ArrayRef<int32_t> ids);
  Status answer(llvm::ArrayRef<int32_t> prompt, std::string &said);
  Status draw(const Interruption &interruption, Answer &answer, Stats &stats);
  Status dropOldest();
  Status wrong(const llvm::Twine &what) {
    mlir::emitError(mlir::UnknownLoc::get(&context)) << what;
    return Status::input;
  }

  const GenerateOptions &options;
  mlir::MLIRContext &context;
  llvm::raw_ostream &out;
  Package package, draftPackage; // draftPackage: that of --draft
  std::string code;              // of both; "": the package's first
  OpenText text{nullptr, mille_text_close};
  std::unique_ptr<Continuation> sequence, draft;
  GenerationRules own;        // the package's, of a decoder beside an encoder
  std::vector<int32_t> begin; // what that decoder begins with
  int64_t room = 0;           // tokens that the session holds
  // A draw follows the seed and how many tokens are held, which a drop lowers.
  uint64_t drops = 0;
  LogitsFile drawnFrom;
  bool hasAnswered = false; // Ctrl-C did not come before the first text
};

// Whether the run makes guesses; another entry of the package checks them.
bool Generation::guesses() const {
  return !options.speculate.empty() || !options.draft.empty();
}

Status Generation::checkEntry(const Package &in, llvm::StringRef entry) {
  if (in.entry(entry))
    return Status::done;
  return refuseOptions(
      "package " + in.name + " has no entry '" + entry + "'; its entries are " +
          in.entryNames(),
      entry == "next" ? "mille compile MODEL --entries=next -o DIR"
                      : "mille compile MODEL --entries=next,extend -o DIR");
}

Status Generation::open() {
  std::vector<std::string> entries{"next"};
  if (guesses())
    entries.push_back("extend");
  if (Status status =
          packageOf(options.subject, options, entries, context, package);
      failed(status))
    return status;
  if (Status status = codeFor(package, options.target, options.device, code);
      failed(status) || failed(status = checkCode(package, code)))
    return status;
  if (!options.dtype.empty() && options.dtype != package.dtype.text())
    return refuseOptions("--dtype is '" + options.dtype + "' but package " +
                             package.name + " was compiled in " +
                             package.dtype.text(),
                         "mille compile MODEL --dtype=" + options.dtype);
  if (!options.cache.empty() &&
      cacheBeside(package.dtype.text(), options.cache) != package.cache)
    return refuseOptions("--cache is '" + options.cache + "' but package " +
                             package.name + " was compiled without it",
                         "mille compile MODEL --cache=" + options.cache);
  if (!options.calibrate.empty() && package.calibrate.empty())
    return refuseOptions("--calibrate is given but package " + package.name +
                             " was compiled without it",
                         "mille compile MODEL --calibrate=" +
                             options.calibrate);
  for (const std::string &entry : entries)
    if (Status status = checkEntry(package, entry); failed(status))
      return status;
  if (Status status = checkSource(options, package); failed(status))
    return status;
  own = package.generation.value_or(GenerationRules());
  if (rules())
    if (Status status = beginOf(options, package, begin); failed(status))
      return status;
  if ((options.ids || options.source) &&
      !llvm::sys::fs::exists(package.file("tokens")))
    return Status::done;
  return openText(package, context, text);
}

// prompt: its tokens, which a decoder holds, or an encoder.
Status Generation::openSequence(int64_t prompt) {
  int64_t most = INT32_MAX;
  if (int64_t limit = package.most(sizes::context))
    most = limit;
  const int64_t held = rules() ? int64_t(begin.size()) : prompt;
  const int64_t usual = options.chat ? 4096 : held + options.maxTokens;
  room = options.context ? options.context : std::min(most, usual);
  if (room > most)
    return refuseOptions("--context is " + llvm::Twine(room) + " but package " +
                             package.name + " holds at most " +
                             llvm::Twine(most),
                         "mille inspect DIR");
  if (int64_t source = package.most(sizes::source);
      rules() && source && prompt > source)
    return wrong("the source has " + llvm::Twine(prompt) +
                 " tokens but the encoder of package " + package.name +
                 " takes at most " + llvm::Twine(source));
  Continuation::Wishes wishes;
  wishes.threads = options.threads;
  wishes.context = room;
  wishes.guesses = guesses() ? options.guesses : 0;
  wishes.beams = searches(options, rules()) ? beamsOf(options, rules()) : 1;
  wishes.source = rules() ? prompt : 0;
  wishes.code = code;
  if (Status status = Continuation::open(package, context, wishes, sequence);
      failed(status) || options.draft.empty())
    return status;
  return openDraft();
}

Status Generation::openDraft() {
  if (Status status =
          packageOf(options.draft, options, {"next"}, context, draftPackage);
      failed(status) || failed(status = checkCode(draftPackage, code)))
    return status;
  if (Status status = checkEntry(draftPackage, "next"); failed(status))
    return status;
  const int64_t most = draftPackage.most(sizes::context);
  if (Status status = Continuation::open(
          draftPackage, context,
          {options.threads, most ? std::min(most, room) : room, 0, 1, 0, code},
          draft);
      failed(status))
    return status;
  OpenText other{nullptr, mille_text_close};
  if (text && llvm::sys::fs::exists(draftPackage.file("tokens")))
    if (Status status = openText(draftPackage, context, other); failed(status))
      return status;
  return checkVocabularies(other.get());
}

// Checks that ids mean the same in the draft as in the package. other: the
// draft's tokenizer, or null.
Status Generation::checkVocabularies(const mille_text *other) {
  const int64_t count = sequence->vocabulary();
  if (draft->vocabulary() != count)
    return wrong("the vocabulary of the draft " + draftPackage.name + " has " +
                 llvm::Twine(draft->vocabulary()) +
                 " ids but that of package " + package.name + " has " +
                 llvm::Twine(count));
  auto token = [](const mille_text *text, int64_t id) {
    const char *bytes = nullptr;
    size_t size = 0;
    return mille_text_token(text, int32_t(id), &bytes, &size, nullptr)
               ? llvm::StringRef()
               : llvm::StringRef(bytes, size);
  };
  for (int64_t id = 0; other && id < count; ++id)
    if (token(text.get(), id) != token(other, id))
      return wrong("the draft " + draftPackage.name +
                   " has another vocabulary: its id " + llvm::Twine(id) +
                   " is another token than that of package " + package.name);
  return Status::done;
}

Status Generation::checkPrompt(llvm::ArrayRef<int32_t> ids) {
  if (int64_t(ids.size()) > room)
    return wrong("the prompt has " + llvm::Twine(ids.size()) +
                 " tokens but there is room for " + llvm::Twine(room));
  for (int32_t id : ids)
    if (id >= sequence->vocabulary())
      return wrong("the prompt has id " + llvm::Twine(id) +
                   " but the vocabulary of package " + package.name + " has " +
                   llvm::Twine(sequence->vocabulary()));
  return Status::done;
}

Status Generation::guess() {
  if (draft)
    return sequence->guessDraft(*draft);
  return options.speculate.empty() ? Status::done : sequence->guessNgram();
}

// Adds the id's log-probability and, if the options ask for them, the likeliest
// ids.
Status Generation::logprobs(int32_t id, llvm::json::Object &facts) {
  // JSON has no infinite numbers.
  auto said = [](double number) {
    return std::isfinite(number) ? llvm::json::Value(number)
                                 : llvm::json::Value(nullptr);
  };
  double own = 0;
  std::vector<int32_t> ids(
      std::min<int64_t>(*options.logprobs, sequence->vocabulary()));
  std::vector<double> theirs(ids.size());
  if (Status status = sequence->logprob(id, own); failed(status))
    return status;
  facts["logprob"] = said(own);
  if (ids.empty())
    return Status::done;
  if (Status status = sequence->likeliest(ids, theirs); failed(status))
    return status;
  llvm::json::Array likeliest;
  for (auto [other, logprob] : llvm::zip(ids, theirs))
    likeliest.push_back(
        llvm::json::Object{{"id", other}, {"logprob", said(logprob)}});
  facts["likeliest"] = std::move(likeliest);
  return Status::done;
}

// Draws id `number` of the answer, of those that the rules allow.
Status Generation::next(int64_t number, int32_t &id) {
  const bool isLast = number + 1 == options.maxTokens;
  const auto forced = isLast && own.last ? own.last
                      : number == 0      ? own.first
                                         : std::nullopt;
  if (forced) {
    id = int32_t(*forced);
    return Status::done;
  }
  std::vector<int32_t> ids = options.biasIds;
  std::vector<double> biases = options.biases;
  auto ban = [&](llvm::ArrayRef<int32_t> banned) {
    for (int32_t one : banned)
      if (one < sequence->vocabulary()) {
        ids.push_back(one);
        biases.push_back(-INFINITY);
      }
  };
  ban(own.banned);
  if (number == 0)
    ban(own.bannedFirst);
  if (number < own.least)
    ban(own.ends);
  mille_sampling sampling = options.sampling;
  sampling.seed += drops;
  sampling.bias_ids = ids.data();
  sampling.biases = biases.data();
  sampling.bias_count = biases.size();
  return sequence->sample(sampling, id);
}

// Draws the next id and writes it, unless it is an end token of the vocabulary.
Status Generation::chooseOne(Answer &answer, int64_t number, bool &isEnd,
                             int32_t &id) {
  if (Status status = next(number, id); failed(status))
    return status;
  isEnd = answer.isEnd(id);
  if (isEnd)
    return Status::done;
  llvm::json::Object facts;
  if (options.logprobs)
    if (Status status = logprobs(id, facts); failed(status))
      return status;
  if (drawnFrom.isWanted()) {
    llvm::ArrayRef<float> logits;
    if (Status status = sequence->logits(logits); failed(status))
      return status;
    drawnFrom.add(id, logits);
  }
  return answer.push(id, std::move(facts));
}

// Writes the likeliest answer that beams find.
Status Generation::search(Answer &answer, Stats &stats) {
  const int64_t most =
      std::min(options.maxTokens, room - int64_t(sequence->held()));
  if (most < 1)
    return wrong("there is room for " + llvm::Twine(room) +
                 " tokens, which the prompt takes: none is left for an answer");
  llvm::ArrayRef<int32_t> ids;
  if (Status status = sequence->search(
          beamSearch(options, rules(), most, answer.endIds()), ids);
      failed(status))
    return status;
  for (int32_t id : ids) {
    ++stats.tokens;
    if (answer.isEnd(id) || answer.stopped())
      break;
    if (Status status = answer.push(id); failed(status))
      return status;
  }
  return Status::done;
}

// Makes room: the older half of what the sequence holds goes, but for its first
// token, which models attend to most, or what a decoder begins with. What
// stands behind runs again, in other places.
Status Generation::dropOldest() {
  const llvm::ArrayRef<int32_t> ids = sequence->ids();
  const size_t most = rules() ? begin.size() : 1,
               first = std::min(most, ids.size() - 1);
  std::vector<int32_t> left(ids.begin(), ids.begin() + first);
  llvm::append_range(left,
                     ids.drop_front(first + (ids.size() - first + 1) / 2));
  ++drops;
  size_t ran = 0;
  return sequence->follow(left, ran);
}

Status Generation::draw(const Interruption &interruption, Answer &answer,
                        Stats &stats) {
  if (searches(options, rules()))
    return search(answer, stats);
  for (int64_t n = 0; n < options.maxTokens && !interruption.came(); ++n) {
    int32_t id = 0;
    bool isEnd = false;
    if (Status status = chooseOne(answer, n, isEnd, id); failed(status))
      return status;
    const bool isFull = int64_t(sequence->held()) == room;
    if (isEnd || answer.stopped() || n + 1 == options.maxTokens ||
        (isFull && !options.dropOldest))
      break;
    if (isFull)
      if (Status status = dropOldest(); failed(status))
        return status;
    if (Status status = sequence->append(id); failed(status))
      return status;
    if (Status status = guess(); failed(status))
      return status;
    if (Status status = sequence->decode(); failed(status))
      return status;
    ++stats.tokens;
  }
  return Status::done;
}

// Encodes the prompt, or the numbers of --source, and begins to decode.
Status Generation::encode(llvm::ArrayRef<int32_t> prompt, size_t &ran) {
  std::vector<float> numbers;
  Status status = Status::done;
  if (options.source)
    status = readSource(options, package, context, numbers);
  if (!failed(status))
    status = options.source ? sequence->sourceValues(numbers)
                            : sequence->source(prompt);
  if (!failed(status))
    status = sequence->follow(begin, ran);
  ran += prompt.size();
  return status;
}

Status Generation::answer(llvm::ArrayRef<int32_t> prompt, std::string &said) {
  if (Status status = checkPrompt(rules() ? llvm::ArrayRef(begin) : prompt);
      failed(status))
    return status;
  Answer answer(text.get(), options.stops, options.json, context, out);
  if (Status status = answer.begin(); failed(status))
    return status;
  answer.addEnds(own.ends);
  Stats stats;
  // Of a single answer that has not begun Ctrl-C ends the process.
  std::optional<Interruption> interruption;
  if (options.chat)
    interruption.emplace(*sequence);
  double start = secondsNow();
  if (Status status = rules() ? encode(prompt, stats.prompt)
                              : sequence->follow(prompt, stats.prompt);
      failed(status))
    return status;
  stats.promptSeconds = secondsNow() - start;
  start = secondsNow();
  if (!interruption)
    interruption.emplace(*sequence);
  if (Status status = draw(*interruption, answer, stats); failed(status))
    return status;
  stats.seconds = secondsNow() - start;
  if (Status status = answer.finish(); failed(status))
    return status;
  if (options.stats)
    stats.print(llvm::errs());
  said = answer.all();
  hasAnswered = !interruption->came() || !said.empty();
  return drawnFrom.write(context);
}

Status Generation::once() {
  std::vector<int32_t> prompt;
  std::string said;
  if (!options.source)
    if (Status status = promptIds(options, text.get(), context, prompt);
        failed(status))
      return status;
  if (Status status = openSequence(prompt.size()); failed(status))
    return status;
  return answer(prompt, said);
}

// Whether the oldest turn of the user is dropped with its answer: the last one
// stays, and so does what the system says.
static bool dropOldestTurn(std::vector<Turn> &turns) {
  const auto first = turns.begin() + (turns.front().role == "system");
  if (turns.end() - first < 3)
    return false;
  turns.erase(first, first + 2);
  return true;
}

Status Generation::chat() {
  if (Status status = openSequence(0); failed(status))
    return status;
  std::vector<Turn> turns;
  if (options.system)
    turns.push_back({"system", *options.system});
  const bool isTerminal = llvm::sys::Process::StandardInIsUserInput();
  for (std::string line;;) {
    if (isTerminal)
      (out << "> ").flush();
    if (!std::getline(std::cin, line))
      return Status::done;
    turns.push_back({"user", line});
    std::vector<int32_t> prompt;
    std::string said;
    do
      if (Status status = conversationIds(turns, text.get(), package.folder,
                                          context, prompt);
          failed(status))
        return status;
    while (options.dropOldest && int64_t(prompt.size()) >= room &&
           dropOldestTurn(turns) && ++drops);
    if (Status status = answer(prompt, said); failed(status))
      return status;
    if (hasAnswered)
      turns.push_back({"assistant", said});
    else
      turns.pop_back();
  }
}

} // namespace

Status mille::generateCommand(const GenerateOptions &options,
                              mlir::MLIRContext &context,
                              llvm::raw_ostream &out) {
  Generation generation(options, context, out);
  if (Status status = generation.open(); failed(status))
    return status;
  return options.chat ? generation.chat() : generation.once();
}

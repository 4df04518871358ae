// `mille train`: batches of tokens into a trainer, step by step, with
// checkpoints. Must not know how a step computes.
#include "compiler/driver/Command.h"
#include "compiler/driver/Console.h"
#include "compiler/driver/Progress.h"
#include "compiler/driver/train/Batches.h"
#include "compiler/driver/train/LossPage.h"
#include "compiler/driver/train/TrainLog.h"
#include "compiler/driver/train/TrainReport.h"
#include "compiler/driver/train/TrainedPackage.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <csignal>

using namespace mille;

namespace {

volatile std::sig_atomic_t stopping = 0;
void stop(int) { stopping = 1; }

// Ctrl-C ends the training after the step that is under way; a second one ends
// the process.
struct StoppedBySignals {
  StoppedBySignals() {
    stopping = 0;
    struct sigaction once = {};
    once.sa_handler = stop;
    once.sa_flags = SA_RESETHAND;
    sigaction(SIGINT, &once, &before[0]);
    sigaction(SIGTERM, &once, &before[1]);
  }
  ~StoppedBySignals() {
    sigaction(SIGINT, &before[0], nullptr);
    sigaction(SIGTERM, &before[1], nullptr);
  }
  struct sigaction before[2];
};

class TrainRun {
public:
  TrainRun(const TrainOptions &options, mlir::MLIRContext &context,
           llvm::raw_ostream &out)
      : options(options), context(context), out(out) {}
  ~TrainRun() { close(); }

  Status run() {
    for (llvm::StringRef file : {options.save, options.log, options.html})
      if (Status status = findFolderOf(file); failed(status))
        return status;
    if (Status status = openData(); failed(status))
      return status;
    MemoryLimit limit = {options.memory, 0, options.batch, training->tokens()};
    size_t bytes = 0;
    do {
      if (Status status = openTrainer(limit); failed(status))
        return status;
      api->mille_trainer_memory(trainer, &bytes);
      // The plan does not count what threads hold: the next choice does.
      limit.besides += int64_t(bytes) - opened->planned;
    } while (limit.bytes && int64_t(bytes) > limit.bytes);
    if (limit.bytes)
      out << "--recompute=" << opened->recompute << ": " << bytes << " bytes\n";
    return train();
  }

private:
  void close() {
    if (trainer)
      api->mille_trainer_close(trainer);
    trainer = nullptr;
  }

  Status openTrainer(const MemoryLimit &limit) {
    close();
    opened.emplace();
    if (Status status =
            opened->open(options.subject,
                         {options.recompute, options.dtype, limit}, context);
        failed(status))
      return status;
    code = opened->code.get();
    api = &code->functions();
    if (Status status = openBatches(); failed(status))
      return status;
    return makeTrainer();
  }

  Status openData() {
    for (auto [path, data] : {std::pair(&options.data, &training),
                              std::pair(&options.eval, &evaluation)}) {
      if (path->empty())
        continue;
      if (Status status = TokenData::open(*path, options.width, options.tokens,
                                          context, *data);
          failed(status))
        return status;
    }
    return Status::done;
  }

  // The tokens of a flat file's sequence: as the option says, or as many as the
  // model has positions for.
  Status openBatches() {
    for (TokenData *data : {training.get(), evaluation.get()})
      if (data && data->isFlat() && !data->tokens())
        if (Status status = data->cut(opened->package.most("tokens"), context);
            failed(status))
          return status;
    if (training->sequences() < options.batch)
      return refuseData(
          options.data + " has " + llvm::Twine(training->sequences()) +
          " sequences but a batch takes " + llvm::Twine(options.batch));
    const Masks *hiding = options.mask.rate ? &masks : nullptr;
    if (hiding)
      if (Status status = Masks::open(options.mask, *opened, context, masks);
          failed(status))
        return status;
    std::vector<mille_tensor> inputs = opened->inputs();
    if (Status status = Batches::open(*training, inputs, options.batch, hiding,
                                      context, batches);
        failed(status) || !evaluation)
      return status;
    if (Status status = Batches::open(*evaluation, inputs, options.batch,
                                      hiding, context, evalBatches);
        failed(status))
      return status;
    for (const mille_size &size : evalBatches->sizes(options.batch))
      for (const mille_size &most : batches->sizes(options.batch))
        if (llvm::StringRef(size.name) == most.name && size.value > most.value)
          return refuseData(options.eval + " has sequences of " +
                            llvm::Twine(size.value) + " " + size.name +
                            " but those of " + options.data + " have " +
                            llvm::Twine(most.value));
    return Status::done;
  }

  // Asked before the training, since what it has learned is written last.
  Status findFolderOf(llvm::StringRef file) {
    llvm::StringRef folder = llvm::sys::path::parent_path(file);
    if (folder.empty() || llvm::sys::fs::is_directory(folder))
      return Status::done;
    mlir::emitError(mlir::UnknownLoc::get(&context))
        << "cannot write " << file << ": there is no folder " << folder;
    return Status::machine;
  }

  Status refuseData(const llvm::Twine &text) {
    mlir::emitError(mlir::UnknownLoc::get(&context)) << text;
    return Status::input;
  }

  Status failTrainer(mille_status status) {
    clearProgress();
    return code->fail(status, api->mille_trainer_message(trainer));
  }

  Status makeTrainer() {
    const std::vector<mille_size> most = batches->sizes(options.batch);
    mille_status made =
        api->mille_trainer_create(code->handle(), most.data(), most.size(),
                                  int(options.threads), &trainer);
    if (made != MILLE_OK)
      return code->fail(made, api->mille_package_message(code->handle()));
    seed = options.seed.value_or(0);
    const std::string mark = training->mark(),
                      hiding = options.mask.rate ? masks.text() : "";
    if (!options.resume.empty()) {
      if (mille_status status =
              api->mille_trainer_load(trainer, options.resume.c_str());
          status != MILLE_OK)
        return failTrainer(status);
      if (Status status = takeNotes(mark, hiding); failed(status))
        return status;
    }
    api->mille_trainer_set_note(trainer, "seed", std::to_string(seed).c_str());
    api->mille_trainer_set_note(trainer, "data", mark.c_str());
    if (!hiding.empty())
      if (mille_status status =
              api->mille_trainer_set_note(trainer, "mask", hiding.c_str());
          status != MILLE_OK) // a runtime of an earlier build
        return failTrainer(status);
    if (options.rate)
      api->mille_trainer_set(trainer, "rate", *options.rate);
    return setNumbers();
  }

  Status setNumbers() {
    for (llvm::StringRef word : options.numbers) {
      auto [name, number] = word.rsplit('=');
      double value;
      if (name.empty() || number.getAsDouble(value))
        return refuseOptions("--set is '" + word + "' but must be NAME=NUMBER");
      if (api->mille_trainer_set(trainer, name.str().c_str(), value) !=
          MILLE_OK)
        return refuseOptions("--set=" + word + ": " +
                             api->mille_trainer_message(trainer));
    }
    return Status::done;
  }

  // The order of data goes on with the seed of the checkpoint, and its masks.
  Status takeNotes(llvm::StringRef mark, llvm::StringRef hiding) {
    llvm::StringRef noted = api->mille_trainer_note(trainer, "seed"),
                    data = api->mille_trainer_note(trainer, "data");
    uint64_t held = 0;
    noted.getAsInteger(10, held);
    if (options.seed && *options.seed != held)
      return refuseOptions("--seed is " + llvm::Twine(*options.seed) + " but " +
                               options.resume + " was begun with " +
                               llvm::Twine(held),
                           "leave --seed out");
    seed = held;
    if (llvm::StringRef before = api->mille_trainer_note(trainer, "mask");
        before != hiding)
      return refuseOptions(
          "--mask is " + (hiding.empty() ? "not given" : hiding) + " but " +
              options.resume + " was begun with " +
              (before.empty() ? "none" : before),
          "a training goes on with the masks that it was begun with");
    if (!data.empty() && data != mark)
      mlir::emitWarning(mlir::UnknownLoc::get(&context))
          << options.data << " is not the data that " << options.resume
          << " was trained on";
    return Status::done;
  }

  Status train() {
    int64_t done = 0;
    api->mille_trainer_steps(trainer, &done);
    const int64_t last = done + options.steps;
    TrainLog log(options.log, !options.resume.empty(), last);
    page.emplace(options.html, opened->package.name, last);
    StoppedBySignals stopped;
    const std::vector<mille_size> sizes = batches->sizes(options.batch);
    mille_step_report report = {};
    bool saved = options.save.empty();
    for (int64_t step = done; step < last && !stopping; ++step) {
      if (!batches->take(step * options.batch, options.batch, api, seed))
        return refuseData(options.data + " has a number beyond 32 bits");
      if (mille_status status = api->mille_trainer_step(
              trainer, sizes.data(), sizes.size(), batches->inputs(), &report);
          status != MILLE_OK)
        return failTrainer(status);
      log.step(report);
      page->step(report);
      saved = options.save.empty();
      if (options.every && (step + 1) % options.every == 0) {
        if (Status status = save(); failed(status))
          return status;
        saved = true;
      }
      if (options.evalEvery && (step + 1) % options.evalEvery == 0)
        if (Status status = evaluate(log, step + 1); failed(status))
          return status;
    }
    if (!saved)
      if (Status status = save(); failed(status))
        return status;
    if (Status status = evaluate(log, report.step); failed(status))
      return status;
    return finish(log, report);
  }

  Status save() {
    mille_status status =
        api->mille_trainer_save(trainer, options.save.c_str());
    return status == MILLE_OK ? Status::done : failTrainer(status);
  }

  // The mean over all labels of the file.
  Status evaluate(TrainLog &log, int64_t step) {
    if (!evaluation || evaluatedAt == step)
      return Status::done;
    double sum = 0;
    int64_t all = 0;
    for (int64_t at = 0; at < evaluation->sequences(); at += options.batch) {
      const int64_t count =
          std::min(options.batch, evaluation->sequences() - at);
      const std::vector<mille_size> sizes = evalBatches->sizes(count);
      if (!evalBatches->take(at, count, nullptr, 0))
        return refuseData(options.eval + " has a number beyond 32 bits");
      double loss = 0;
      int64_t labels = 0;
      if (mille_status status = api->mille_trainer_evaluate(
              trainer, sizes.data(), sizes.size(), evalBatches->inputs(), &loss,
              &labels);
          status != MILLE_OK)
        return failTrainer(status);
      sum += loss * double(labels);
      all += labels;
    }
    evaluatedAt = step;
    evalLoss = sum / double(all);
    log.evaluated(step, evalLoss, all);
    page->evaluated(step, evalLoss);
    return Status::done;
  }

  Status finish(TrainLog &log, const mille_step_report &report) {
    std::string why = log.close();
    if (!why.empty()) {
      mlir::emitError(mlir::UnknownLoc::get(&context))
          << "cannot write " << options.log << ": " << why;
      return Status::machine;
    }
    if (std::string problem = page->close(); !problem.empty()) {
      mlir::emitError(mlir::UnknownLoc::get(&context)) << problem;
      return Status::machine;
    }
    if (report.step)
      out << llvm::formatv("step {0}: loss {1:f4}", report.step, report.loss);
    if (evaluation)
      out << llvm::formatv("{0}{1}: {2:f4}", report.step ? ", of " : "of ",
                           options.eval, evalLoss);
    if (report.step || evaluation)
      out << "\n";
    if (options.report && !writeTrainReport(*api, trainer, out))
      return refuseOptions("--report is given but package " +
                               opened->package.name +
                               " is of a build that reports nothing",
                           "compile it again");
    if (stopping)
      out << "stopped" << (options.save.empty() ? "" : "; saved ")
          << options.save << "\n";
    return Status::done;
  }

  const TrainOptions &options;
  mlir::MLIRContext &context;
  llvm::raw_ostream &out;
  std::optional<TrainedPackage> opened;
  Compiled *code = nullptr;
  const LibraryFunctions *api = nullptr;
  std::unique_ptr<TokenData> training, evaluation;
  Masks masks; // where --mask is given
  std::unique_ptr<Batches> batches, evalBatches;
  mille_trainer *trainer = nullptr;
  uint64_t seed = 0;
  std::optional<LossPage> page;
  int64_t evaluatedAt = -1;
  double evalLoss = 0;
};

} // namespace

Status mille::trainCommand(const TrainOptions &options,
                           mlir::MLIRContext &context, llvm::raw_ostream &out) {
  return TrainRun(options, context, out).run();
}

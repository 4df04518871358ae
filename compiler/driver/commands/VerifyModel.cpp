// `mille verify`: compares a package with the reference and with given answers,
// tensor by tensor. Must not hold a bound: tolerances.json has them.
#include "compiler/driver/Command.h"
#include "compiler/driver/Console.h"
#include "compiler/driver/Progress.h"
#include "compiler/driver/Scratch.h"
#include "compiler/driver/commands/OneRun.h"
#include "compiler/driver/commands/VerifyCertificate.h"
#include "compiler/driver/commands/VerifyReport.h"
#include "compiler/driver/commands/VerifyTraining.h"
#include "compiler/driver/package/ChosenCode.h"
#include "compiler/driver/package/Package.h"
#include "compiler/driver/package/Reference.h"
#include "compiler/driver/package/SeededInputs.h"
#include "compiler/interpret/TensorFiles.h"
#include "compiler/kernels/Targets.h"
#include "dialects/transformer/Training.h"

using namespace mille;

// Reports a heading and a line per tensor. Returns Status::done, or `verdict`
// if a tensor differs too much.
static Status judgeAgainst(llvm::StringRef heading, const Values &got,
                           const Values &expected, const Values &inputs,
                           llvm::StringRef tolerance, Status verdict,
                           mlir::MLIRContext &context, VerifyReport &report) {
  std::vector<Difference> differences;
  if (Status status = compare(got, expected, inputs,
                              mlir::UnknownLoc::get(&context), differences);
      failed(status))
    return status;
  return report.compare(heading, std::move(differences), toleranceOf(tolerance))
             ? Status::done
             : verdict;
}

// The tolerance of the least exact type that a weight of the package has.
static std::string loosestBound(const Package &package) {
  auto nameFor = [](Dtype dtype) { return "compiled_" + nameOf(dtype).str(); };
  const std::vector<Dtype> types = package.dtype.all();
  return nameFor(*llvm::max_element(types, [&](Dtype a, Dtype b) {
    return toleranceOf(nameFor(a)).relative < toleranceOf(nameFor(b)).relative;
  }));
}

static bool holdsHiddenStates(const Values &values) {
  return llvm::any_of(values, [](const auto &named) {
    return llvm::StringRef(named.first).contains("hidden_states");
  });
}

static Status openBoth(const VerifyOptions &options, bool hiddenStates,
                       std::optional<ImageSize> imageSize,
                       mlir::MLIRContext &context, Scratch &scratch,
                       Package &package, Reference &reference) {
  Subject subject;
  if (Status status = findSubject(options.subject, context, subject, package);
      failed(status))
    return status;
  if (subject == Subject::model)
    if (Status status =
            compileForOneRun(options.subject, hiddenStates, imageSize, "", "",
                             scratch, context, package);
        failed(status))
      return status;
  if (package.entry(trainStepName))
    return refuseOptions("package " + package.name +
                             " was compiled with --train: what can be verified "
                             "are its gradients",
                         "mille verify " + options.subject + " --train");
  return Reference::open(package, context, reference);
}

// Lists the code to run. If the user names a device, only its code runs. Else
// the default code runs, and, if the package has code for a CPU, then the code
// for each kind of device.
static Status codesOf(const Package &package, const std::string &device,
                      std::vector<std::string> &codes) {
  std::string code;
  if (Status status = codeFor(package, "", device, code); failed(status))
    return status;
  if (Status status = checkCode(package, code); failed(status))
    return status;
  codes.push_back(code);
  if (!code.empty() || package.isas.size() < 2)
    return Status::done;
  for (const Package::Isa &isa : package.isas)
    if (llvm::is_contained(deviceTargetNames(), isa.name))
      codes.push_back(isa.name);
  return Status::done;
}

// Images of a few patches, more across than down, where runs choose their size.
static void takeOddImage(const Package &package,
                         llvm::StringMap<int64_t> &sizes) {
  int64_t patches = 3;
  for (const Package::Size &size : package.sizes) {
    if (size.multiple == 1)
      continue;
    int64_t least =
        std::min(size.own, std::max(size.least, patches * size.multiple));
    sizes[size.name] = size.most ? std::min(least, size.most) : least;
    patches += 2;
  }
}

static Status verify(const VerifyOptions &options, mlir::MLIRContext &context,
                     VerifyReport &report) {
  Scratch scratch;
  Package package;
  Reference reference;
  Values inputs, expected, referred;
  if (!options.expected.empty())
    if (Status status = readTensors(options.expected, context, expected);
        failed(status))
      return status;
  if (!options.inputs.empty())
    if (Status status = readTensors(options.inputs, context, inputs);
        failed(status))
      return status;
  if (Status status =
          openBoth(options, holdsHiddenStates(expected), imageSizeOf(inputs),
                   context, scratch, package, reference);
      failed(status))
    return status;
  report.of(package.name);
  // Odd sizes, or smaller ones if the model does not take so many tokens.
  if (options.inputs.empty()) {
    llvm::StringMap<int64_t> sizes = sizesWithin(package, 2, 13, 7);
    takeOddImage(package, sizes);
    inputs = seededInputs(package.entries.front(), sizes, /*withMask=*/true);
  }
  showProgress("running the reference");
  if (Status status = reference.run(inputs, referred); failed(status))
    return status;
  splitEntries(referred);
  std::vector<std::string> codes;
  if (Status status = codesOf(package, options.device, codes); failed(status))
    return status;
  Status against = Status::done;
  const std::string bound = loosestBound(package);
  const std::string dtype = package.dtype.text(),
                    type = dtype == "f32"      ? ""
                           : dtype == "stored" ? " in stored blocks"
                                               : " in " + dtype;
  std::vector<std::pair<std::string, Values>> runs;
  for (const std::string &code : codes) {
    showProgress("running the package");
    runs.emplace_back((code.empty() ? "compiled" : code) + type, Values());
    Values &got = runs.back().second;
    // The reference computes padding rows too, so the package must keep them.
    Compiled::Wishes wishes;
    wishes.keepPadding = wishes.checkHash = true;
    if (Status status = runCompiled(package, code, options.threads, inputs,
                                    context, got, wishes);
        failed(status))
      return status;
    clearProgress();
    splitEntries(got);
    Status one =
        judgeAgainst(runs.back().first + " against reference", got, referred,
                     inputs, bound, Status::bug, context, report);
    against = failed(against) ? against : one;
  }
  if (!failed(against) && options.certificate)
    against = verifyCertificate(package, options.threads, context, report);
  if (failed(against) || options.expected.empty())
    return against;
  if (holdsHiddenStates(expected) && !package.hiddenStates) {
    report.leaveOutHiddenStates();
    for (auto at = expected.begin(); at != expected.end();)
      at = llvm::StringRef(at->first).contains("hidden_states")
               ? expected.erase(at)
               : std::next(at);
  }
  for (const auto &[name, got] : runs) {
    Status one =
        judgeAgainst(name + " against " + options.expected, got, expected,
                     inputs, bound, Status::input, context, report);
    against = failed(against) ? against : one;
  }
  return against;
}

Status mille::verifyCommand(const VerifyOptions &options,
                            mlir::MLIRContext &context,
                            llvm::raw_ostream &out) {
  VerifyReport report(out, options.json);
  Status status = options.train ? verifyTraining(options, context, report)
                                : verify(options, context, report);
  // An error in the middle is no answer.
  if (!failed(status) || !report.isGood())
    report.finish();
  return status;
}

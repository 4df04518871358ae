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
                           mlir::MLIRContext &context, VerifyReport &report,
                           const Routing *routing = nullptr) {
  std::vector<Difference> differences;
  if (Status status = compare(got, expected, inputs,
                              mlir::UnknownLoc::get(&context), differences);
      failed(status))
    return status;
  return report.compare(heading, std::move(differences), toleranceOf(tolerance),
                        routing)
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

// What the reference says of the inputs, and where it sends rows.
struct Referred {
  Values outputs;
  Routing routing;
};

// " in bf16", or "".
static std::string typeWords(const Package &package) {
  const std::string dtype = package.dtype.text();
  return dtype == "f32"      ? ""
         : dtype == "stored" ? " in stored blocks"
                             : " in " + dtype;
}

// A run of the package, or what stands in its place before given answers.
struct Ran {
  std::string name;
  Values outputs;
};

// Judges a run of the package, whose rows went by `routes`. The reference goes
// there too where it would go elsewhere by its own logits: the logits of both
// are compared as any tensor, so who goes elsewhere stands at a tie. Answers
// that are given are then for the reference that goes by its own.
static Status judgeAgainst(Ran &ran, const Routes &routes, Reference &reference,
                           const Referred &own, const Values &inputs,
                           llvm::StringRef tolerance,
                           mlir::MLIRContext &context, VerifyReport &report) {
  const std::string heading = ran.name + " against reference";
  if (routes.empty() || !areAlike(routes, own.routing.made))
    return judgeAgainst(heading, ran.outputs, own.outputs, inputs, tolerance,
                        Status::bug, context, report);
  Referred followed = own;
  auto again = [&](Values &outputs, Routing &routing) {
    Status status = reference.run(inputs, outputs, "", {}, &routing);
    splitEntries(outputs);
    return status;
  };
  if (Status status = follow(routes, followed.outputs, followed.routing, again);
      failed(status))
    return status;
  Values all = ran.outputs;
  if (followed.routing.followed)
    ran = {"reference in place of " + ran.name, own.outputs};
  addRouterLogits(routes, followed.routing.made, all, followed.outputs);
  return judgeAgainst(heading, all, followed.outputs, inputs, tolerance,
                      Status::bug, context, report, &followed.routing);
}

static Status verify(const VerifyOptions &options, mlir::MLIRContext &context,
                     VerifyReport &report) {
  Scratch scratch;
  Package package;
  Reference reference;
  Values inputs, expected;
  Referred referred;
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
  if (Status status =
          reference.run(inputs, referred.outputs, "", {}, &referred.routing);
      failed(status))
    return status;
  splitEntries(referred.outputs);
  std::vector<std::string> codes;
  if (Status status = codesOf(package, options.device, codes); failed(status))
    return status;
  Status against = Status::done;
  const std::string bound = loosestBound(package);
  std::vector<Ran> runs;
  for (const std::string &code : codes) {
    showProgress("running the package");
    runs.push_back(
        {(code.empty() ? "compiled" : code) + typeWords(package), Values()});
    Ran &ran = runs.back();
    // The reference computes padding rows too, so the package must keep them.
    Compiled::Wishes wishes;
    wishes.keepPadding = wishes.checkHash = true;
    Routes routes;
    wishes.routes = &routes;
    if (Status status = runCompiled(package, code, options.threads, inputs,
                                    context, ran.outputs, wishes);
        failed(status))
      return status;
    clearProgress();
    splitEntries(ran.outputs);
    Status one = judgeAgainst(ran, routes, reference, referred, inputs, bound,
                              context, report);
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
  for (const Ran &ran : runs) {
    Status one =
        judgeAgainst(ran.name + " against " + options.expected, ran.outputs,
                     expected, inputs, bound, Status::input, context, report);
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

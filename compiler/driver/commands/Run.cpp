// `mille run`: inputs from a file through a package, or through the reference,
// to a file. Must not know how either computes.
#include "compiler/driver/Command.h"
#include "compiler/driver/Diagnose.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/driver/Scratch.h"
#include "compiler/driver/package/Compiled.h"
#include "compiler/driver/package/Reference.h"
#include "compiler/interpret/Compare.h"
#include "compiler/interpret/TensorFiles.h"
#include "compiler/kernels/Targets.h"
#include "llvm/ADT/StringExtras.h"

using namespace mille;

static Status refuse(const llvm::Twine &text, const llvm::Twine &help) {
  sayError(text);
  sayHelp(help);
  return Status::commandLine;
}

Status mille::runCompiled(const Package &package, const std::string &isa,
                          unsigned threads, const Values &inputs,
                          mlir::MLIRContext &context, Values &outputs,
                          RunWishes wishes) {
  std::unique_ptr<Compiled> compiled;
  if (Status status =
          Compiled::open(package, isa, context, compiled, wishes.checkHash);
      failed(status))
    return status;
  compiled->keepPadding = wishes.keepPadding;
  return compiled->run(inputs, threads, outputs);
}

std::optional<ImageSize> mille::imageSizeOf(const Values &inputs) {
  auto pixels = inputs.find("pixel_values");
  if (pixels == inputs.end() || pixels->second.shape.size() != 4)
    return std::nullopt;
  llvm::ArrayRef<int64_t> shape = pixels->second.shape;
  return ImageSize{shape[2], shape[3]};
}

Status mille::compileForOneRun(const std::string &model, bool hiddenStates,
                               std::optional<ImageSize> imageSize,
                               const std::string &target, Scratch &scratch,
                               mlir::MLIRContext &context, Package &package) {
  CompileOptions options;
  options.model = model;
  options.folder = scratch.folder();
  options.hiddenStates = hiddenStates;
  options.imageSizeAtHand = imageSize;
  options.targets = {target.empty() ? "host" : target};
  options.name = "model";
  options.certify = false;
  if (Status status = compileModel(options, context, llvm::nulls());
      failed(status))
    return status;
  return findPackage(options.folder, context, package);
}

Status mille::codeFor(const std::string &target, const std::string &device,
                      std::string &code) {
  const std::string on = target.empty() ? deviceTargetNames().front() : target;
  code = device.empty() ? target : on + ":" + device;
  const Target *known = targetNamed(on);
  if (!device.empty() && !(known && known->isDevice()))
    return refuse("--device is '" + device + "' but --target is '" + target +
                      "', which runs on no device",
                  "mille devices");
  return Status::done;
}

Status mille::checkCode(const Package &package, const std::string &code) {
  std::string isa = llvm::StringRef(code).split(':').first.str();
  auto name = [](const Package::Isa &isa) { return isa.name; };
  auto names = llvm::map_range(package.isas, name);
  if (isa.empty() || isa == "reference" || llvm::is_contained(names, isa))
    return Status::done;
  return refuse("--target is '" + isa + "' but package " + package.name +
                    " holds " + llvm::join(names, ", "),
                "mille compile MODEL --target=" + isa + " -o DIR");
}

static Status compute(const RunOptions &options, mlir::MLIRContext &context,
                      const Values &inputs, Values &outputs) {
  Subject subject;
  Package package;
  if (Status status = findSubject(options.subject, context, subject, package);
      failed(status))
    return status;
  std::string code;
  if (Status status = codeFor(options.target, options.device, code);
      failed(status))
    return status;
  bool reference = code == "reference";
  if (subject == Subject::package) {
    if (options.hiddenStates && !package.hiddenStates)
      return refuse("--hidden-states is given but package " + package.name +
                        " was compiled without it",
                    "mille compile MODEL --hidden-states -o DIR");
    if (Status status = checkCode(package, code); failed(status))
      return status;
  }
  if (reference) {
    Reference model;
    ImportOptions wishes;
    wishes.hiddenStates = options.hiddenStates;
    wishes.imageSizeAtHand = imageSizeOf(inputs);
    wishes.name = "model";
    Status status =
        subject == Subject::package
            ? Reference::open(package, context, model)
            : Reference::open(options.subject, wishes, context, model);
    return failed(status) ? status : model.run(inputs, outputs);
  }
  Scratch scratch;
  if (subject == Subject::model)
    if (Status status = compileForOneRun(
            options.subject, options.hiddenStates, imageSizeOf(inputs),
            llvm::StringRef(code).split(':').first.str(), scratch, context,
            package);
        failed(status))
      return status;
  return runCompiled(package, code, options.threads, inputs, context, outputs,
                     {options.keepPadding, options.check});
}

// Keeps what --only names.
static Status select(const std::vector<std::string> &only, Values &outputs) {
  if (only.empty())
    return Status::done;
  Values kept;
  for (const std::string &name : only) {
    auto found = outputs.find(name);
    if (found == outputs.end())
      return refuse("--only names '" + name +
                        "' but the model has no output of that name",
                    "its outputs are " +
                        llvm::join(llvm::make_first_range(outputs), ", "));
    kept.insert(*found);
  }
  outputs = std::move(kept);
  return Status::done;
}

Status mille::runCommand(const RunOptions &options,
                         mlir::MLIRContext &context) {
  Values inputs, outputs;
  if (Status status = readTensors(options.inputs, context, inputs);
      failed(status))
    return status;
  if (Status status = compute(options, context, inputs, outputs);
      failed(status))
    return status;
  splitEntries(outputs);
  if (Status status = select(options.only, outputs); failed(status))
    return status;
  return writeTensors(options.outputs, outputs, /*wide=*/false, context);
}

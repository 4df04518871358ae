// `mille run`: inputs from a file through a package, or through the reference,
// to a file. Must not know how either computes.
#include "compiler/driver/Command.h"
#include "compiler/driver/Scratch.h"
#include "compiler/driver/commands/OneRun.h"
#include "compiler/driver/package/Reference.h"
#include "compiler/interpret/Compare.h"
#include "compiler/interpret/TensorFiles.h"
#include "compiler/kernels/Targets.h"
#include "llvm/ADT/StringExtras.h"

using namespace mille;

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
      return refuseOptions("--hidden-states is given but package " +
                               package.name + " was compiled without it",
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
      return refuseOptions(
          "--only names '" + name +
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

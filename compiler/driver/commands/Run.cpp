// `mille run`: reads inputs from a file, runs a package or the reference on
// them, and writes the outputs to a file. Must not know how either computes.
#include "compiler/driver/Command.h"
#include "compiler/driver/Console.h"
#include "compiler/driver/Scratch.h"
#include "compiler/driver/commands/OneRun.h"
#include "compiler/driver/package/ChosenCode.h"
#include "compiler/driver/package/Reference.h"
#include "compiler/interpret/Compare.h"
#include "compiler/interpret/Inputs.h"
#include "compiler/interpret/TensorFiles.h"
#include "compiler/kernels/Targets.h"
#include "dialects/kernel/Signature.h"
#include "llvm/ADT/StringExtras.h"

using namespace mille;

// The entries that compile must add to a model for this run.
static std::vector<std::string> entriesFor(const RunOptions &options) {
  if (options.entry.empty())
    return {};
  return {options.entry};
}

// Finds the names of an entry's states. The package must have the entry.
static Status statesOf(const Package &package, const std::string &entry,
                       std::vector<std::string> &states) {
  const Package::Entry *found = package.entry(entry);
  if (!found)
    return refuseOptions("--entry is '" + entry + "' but package " +
                             package.name + " has no such entry",
                         "its entries are " + package.entryNames());
  for (const Package::Tensor &state : found->states)
    states.push_back(state.name);
  return Status::done;
}

static Status runReference(Reference &model, const RunOptions &options,
                           const Values &inputs, Values &outputs,
                           std::vector<std::string> &states) {
  if (auto entry = kernel::entryOf(model.model(), options.entry))
    for (unsigned i = 0; i < entry.getNumArguments(); ++i)
      if (kernel::isState(entry, i))
        states.push_back(interpreter::inputName(entry, i).str());
  llvm::StringMap<int64_t> sizes;
  if (options.context)
    sizes[mille::sizes::context] = options.context;
  return model.run(inputs, outputs, options.entry, sizes);
}

static Status compute(const RunOptions &options, mlir::MLIRContext &context,
                      const Values &inputs, Values &outputs,
                      std::vector<std::string> &states) {
  Subject subject;
  Package package;
  if (Status status = findSubject(options.subject, context, subject, package);
      failed(status))
    return status;
  std::string code;
  if (Status status = codeFor(package, options.target, options.device, code);
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
    Status status = subject == Subject::package
                        ? Reference::open(package, context, model)
                        : Reference::open(options.subject, wishes, context,
                                          model, entriesFor(options));
    return failed(status)
               ? status
               : runReference(model, options, inputs, outputs, states);
  }
  Scratch scratch;
  if (subject == Subject::model)
    if (Status status = compileForOneRun(
            options.subject, options.hiddenStates, imageSizeOf(inputs),
            llvm::StringRef(code).split(':').first.str(), options.entry,
            scratch, context, package);
        failed(status))
      return status;
  if (Status status = statesOf(package, options.entry, states); failed(status))
    return status;
  Compiled::Wishes wishes{options.entry, options.check, options.keepPadding,
                          options.context};
  return runCompiled(package, code, options.threads, inputs, context, outputs,
                     wishes);
}

// Drops the outputs that --only does not name.
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

// Moves the contents of states from the outputs to the file of --state-out. The
// reference writes double, so a later run continues as if it had not stopped.
static Status writeStates(const std::vector<std::string> &names,
                          const RunOptions &options, mlir::MLIRContext &context,
                          Values &outputs) {
  Values states;
  for (const std::string &name : names)
    if (auto found = outputs.find(name); found != outputs.end())
      states.insert(outputs.extract(found));
  if (options.stateOut.empty())
    return Status::done;
  if (states.empty())
    return refuseOptions("--state-out is given but the entry has no states",
                         "mille run DIR --entry=extend");
  return writeTensors(options.stateOut, states,
                      /*wide=*/options.target == "reference", context);
}

Status mille::runCommand(const RunOptions &options, mlir::MLIRContext &context,
                         llvm::raw_ostream &) {
  Values inputs, outputs;
  std::vector<std::string> states;
  if (Status status = readTensors(options.inputs, context, inputs);
      failed(status))
    return status;
  if (!options.stateIn.empty()) {
    Values held;
    if (Status status = readTensors(options.stateIn, context, held);
        failed(status))
      return status;
    joinEntries(held);
    inputs.merge(held);
  }
  if (Status status = compute(options, context, inputs, outputs, states);
      failed(status))
    return status;
  if (Status status = writeStates(states, options, context, outputs);
      failed(status))
    return status;
  splitEntries(outputs);
  if (Status status = select(options.only, outputs); failed(status))
    return status;
  return writeTensors(options.outputs, outputs, /*wide=*/false, context);
}

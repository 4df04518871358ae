// Runs the steps of linking in order, and moves the files to their places last.
// Must not do what a step does.
#include "compiler/link/Link.h"
#include "compiler/link/Header.h"
#include "compiler/link/Objects.h"
#include "compiler/link/SignalsKept.h"
#include "compiler/link/Staging.h"
#include "compiler/link/WriteWeights.h"
#include "dialects/kernel/Signature.h"
#include "dialects/transformer/Training.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <cstring>

using namespace mille;
using namespace mille::link;

namespace {

constexpr llvm::StringLiteral trainerFunctions[] = {
#define MILLE_FUNCTION(name) #name,
#include "runtime/training.def"
};

// The runtime's functions that NAME.so shows. A trainer's go with a model that
// can be trained.
std::vector<std::string> exportsOf(mlir::Operation *model) {
  std::vector<std::string> names = functionsOfMille();
  names.push_back("mille_function_table");
  bool trains = false;
  for (mlir::func::FuncOp entry : kernel::entriesOf(model))
    trains |= entry.getName() == trainStepName;
  if (trains)
    names.push_back("mille_training_function_table");
  else
    llvm::erase_if(names, [](llvm::StringRef name) {
      return llvm::is_contained(trainerFunctions, name);
    });
  return names;
}

class Package {
public:
  Package(const LinkInput &input, llvm::StringRef folder)
      : input(input), staging(folder, input.name) {}

  Status write();

private:
  Status weights();
  Status modelObject();
  Status libraries();
  Status texts();
  Status finish(Status status);

  std::string file(llvm::StringRef suffix) const {
    return input.name + suffix.str();
  }
  std::string kernelSupport() const {
    llvm::SmallString<256> path(
        llvm::sys::path::parent_path(input.runtimeLibrary));
    llvm::sys::path::append(path, "libmille_kernel_support.a");
    return std::string(path);
  }
  // A failure with files is the machine's fault, any other is a bug in Mille.
  Status judge(const Problem &problem) {
    if (problem.empty())
      return Status::done;
    said = problem;
    for (int error : {ENOSPC, EDQUOT, EACCES, EROFS, EIO, EFBIG, ENOENT, ENOMEM,
                      EMFILE, EPERM})
      if (problem.find(std::strerror(error)) != std::string::npos)
        return Status::machine;
    return Status::bug;
  }

  // Reserves disk space for the result of linking `files`.
  bool reserveFor(llvm::StringRef output, llvm::ArrayRef<std::string> files) {
    uint64_t bytes = 1 << 16;
    for (const std::string &path : files) {
      uint64_t size = 0;
      if (!llvm::sys::fs::file_size(path, size))
        bytes += size + size / 4;
    }
    return staging.reserve(output, bytes);
  }

  const LinkInput &input;
  Staging staging;
  PackageFacts facts;
  std::string said;
};

// Writes NAME.weights unless there is no number to write, and with
// --embed-weights an object with the same bytes.
Status Package::weights() {
  if (Status status = writeWeights(input, staging, file(".weights"), facts);
      failed(status))
    return status;
  if (!input.embedWeights)
    return Status::done;
  bool good = writeWeightsObject(staging, staging.path(file(".weights")),
                                 staging.scratch("weights.o"), input.name);
  return good ? Status::done : Status::machine;
}

// Links the host code, the kernels and the functions that kernels call into one
// object that exports only NAME_model, so that a program can hold two models,
// or Halide itself.
Status Package::modelObject() {
  std::string host;
  if (Status status = input.hostObject(facts, host); failed(status))
    return status;
  std::vector<std::string> objects;
  auto add = [&](llvm::StringRef bytes) {
    std::string name = "." + std::to_string(objects.size()) + ".o";
    objects.push_back(staging.path(name));
    return staging.write(name, bytes);
  };
  if (!add(host))
    return Status::machine;
  for (const auto &[name, bytes] : input.kernelObjects)
    if (!add(bytes))
      return Status::machine;
  std::string joined = staging.scratch("joined.o");
  if (!reserveFor(file(".a"), objects))
    return Status::machine;
  if (Status status =
          judge(linkRelocatable(objects, {kernelSupport()}, joined));
      failed(status))
    return status;
  return judge(
      keepGlobal(joined, input.name + "_model", staging.scratch(file(".o"))));
}

// Copies the runtime's members as they are. If a program links the archives of
// two models, the linker takes the runtime from the first.
Status Package::libraries() {
  std::vector<std::string> objects{staging.scratch(file(".o"))};
  if (input.embedWeights)
    objects.push_back(staging.scratch("weights.o"));
  if (Status status = judge(writeArchive(objects, {input.runtimeLibrary},
                                         staging.path(file(".a"))));
      failed(status))
    return status;
  std::vector<std::string> all = objects;
  all.push_back(input.runtimeLibrary);
  if (!reserveFor(file(".so"), all))
    return Status::machine;
  // Leaves out the functions that neither the application nor the model calls.
  std::vector<std::string> exports = exportsOf(input.model);
  exports.push_back(input.name + "_model");
  Status status = judge(linkShared(objects, {input.runtimeLibrary}, exports,
                                   staging.path(file(".so"))));
  facts.codeBytes = loadedBytes(staging.path(file(".so")));
  return status;
}

Status Package::texts() {
  std::string header = writeHeader(input.name, input.model, input.embedWeights);
  bool good =
      staging.write(file(".h"), header) &&
      staging.write(file(".mlir"), input.imported) &&
      staging.write(file(".json"), input.manifest(facts)) &&
      (input.tokens.empty() || staging.write(file(".tokens"), input.tokens));
  return good ? Status::done : Status::machine;
}

Status Package::write() {
  if (!staging.problem().empty())
    return finish(Status::machine);
  for (auto step : {&Package::weights, &Package::modelObject,
                    &Package::libraries, &Package::texts})
    if (Status status = (this->*step)(); failed(status))
      return finish(status);
  // The manifest goes last, since it makes the folder a package.
  std::vector<std::string> files, gone;
  (input.tokens.empty() ? gone : files).push_back(file(".tokens"));
  (input.withoutWeights ? gone : files).push_back(file(".weights"));
  for (const char *suffix : {".so", ".a", ".h", ".mlir", ".json"})
    files.push_back(file(suffix));
  return finish(staging.commit(files, gone) ? Status::done : Status::machine);
}

Status Package::finish(Status status) {
  mlir::Location nowhere = mlir::UnknownLoc::get(input.model->getContext());
  if (!staging.problem().empty())
    mlir::emitError(nowhere, staging.problem());
  else if (!said.empty())
    // No test has this: objects that do not link are a fault of ours.
    mlir::emitError(nowhere, "linking " + input.name + ": " + said);
  return status;
}

} // namespace

Status mille::linkPackage(const LinkInput &input, llvm::StringRef folder) {
  link::SignalsKept kept;
  return Package(input, folder).write();
}

// Names the folder of a cached package by a hash of everything it is made from.
// Must not trust its contents: the package is checked like any other.
#include "compiler/driver/generate/CachedPackage.h"

#include "compiler/driver/Compiler.h"
#include "compiler/driver/Console.h"
#include "compiler/driver/Progress.h"
#include "compiler/driver/machine/Machine.h"
#include "compiler/driver/package/FileHashes.h"
#include "compiler/driver/program/Targets.h"
#include "compiler/weights/TensorFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace mille;
using llvm::StringRef;

namespace {

// The cache's folder, or "" if neither variable is set.
std::string packagesFolder() {
  llvm::SmallString<256> folder;
  auto cache = llvm::sys::Process::GetEnv("XDG_CACHE_HOME");
  auto home = llvm::sys::Process::GetEnv("HOME");
  if (cache && llvm::sys::path::is_absolute(*cache))
    folder = *cache;
  else if (home && llvm::sys::path::is_absolute(*home))
    llvm::sys::path::append(folder, *home, ".cache");
  else
    return {};
  llvm::sys::path::append(folder, "mille", "packages");
  return folder.str().str();
}

// The identity of this build: another build may generate other code.
std::string thisBuild() {
  std::string path = compilerProgram();
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status))
    return path;
  return std::to_string(status.getSize()) + "-" +
         std::to_string(
             status.getLastModificationTime().time_since_epoch().count());
}

// The part of the key beside the model's bytes: the request, this machine, this
// build.
std::string makerText(const CompileRequest &request) {
  std::string text = request.dtype + " " + request.keyCache + " " +
                     llvm::join(request.entries, ",");
  if (!request.calibrate.empty())
    text += " " + byteHashOfFile(request.calibrate);
  for (const Target &target : targetsMeant(request.targets))
    text += " " + target.name;
  return text + " " + std::to_string(describeMachine().features) + " " +
         thisBuild();
}

Status compileInto(CompileRequest request, mlir::MLIRContext &context) {
  showProgress("compiling " + request.model + " into " + request.folder);
  return compileModel(request, context, llvm::nulls());
}

// What a model is compiled in where nobody says: the blocks that its file
// stores, of which devices read none and have bf16; f32 where it stores none.
// Empty after an error of the file.
std::string usualDtype(StringRef model, StringRef target,
                       mlir::MLIRContext &context) {
  if (!model.ends_with(".gguf"))
    return "f32";
  std::unique_ptr<TensorFile> file = TensorFile::open(model, context);
  if (!file)
    return {};
  if (llvm::none_of(file->tensors(), [](const StoredTensor &tensor) {
        return isBlocks(tensor.type);
      }))
    return "f32";
  const Target *known = targetNamed(target);
  return known && known->isDevice() ? "bf16" : "stored";
}

} // namespace

Status mille::packageOf(const std::string &subject, const GenerateOptions &how,
                        llvm::ArrayRef<std::string> entries,
                        mlir::MLIRContext &context, Package &package) {
  Subject kind;
  if (Status status = findSubject(subject, context, kind, package);
      failed(status))
    return status;
  if (kind == Subject::package)
    return Status::done;
  if (!llvm::sys::fs::is_directory(subject) &&
      !StringRef(subject).ends_with(".gguf"))
    return refuseOptions("'" + subject +
                             "' is neither a package, a GGUF file nor a folder "
                             "of a model",
                         "mille compile " + subject + " -o DIR");
  std::string folder = packagesFolder();
  if (folder.empty()) {
    mlir::emitError(mlir::UnknownLoc::get(&context))
        << "neither XDG_CACHE_HOME nor HOME names a folder to compile into";
    return Status::machine;
  }
  CompileRequest request = requestOf(CompileOptions());
  request.model = subject;
  request.dtype =
      how.dtype.empty() ? usualDtype(subject, how.target, context) : how.dtype;
  if (request.dtype.empty())
    return Status::input;
  request.keyCache = cacheBeside(request.dtype, how.cache);
  request.calibrate = how.calibrate;
  request.entries.assign(entries.begin(), entries.end());
  request.targets = {how.target.empty() ? "host" : how.target};
  request.name = "model";
  request.folder = folder + "/" + hashOfBytes(subject, makerText(request));
  if (!llvm::sys::fs::exists(request.folder + "/model.json"))
    if (Status status = compileInto(request, context); failed(status))
      return status;
  return findPackage(request.folder, context, package);
}

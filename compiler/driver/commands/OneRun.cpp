// Code that several commands share to run a package or a model once.
// Must not know which command calls it.
#include "compiler/driver/commands/OneRun.h"

#include "compiler/driver/Console.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/driver/Scratch.h"
#include "compiler/kernels/Targets.h"
#include "llvm/ADT/StringExtras.h"

using namespace mille;

Status mille::refuseOptions(const llvm::Twine &text, const llvm::Twine &help) {
  sayError(text);
  sayHelp(help);
  return Status::commandLine;
}

Status mille::runCompiled(const Package &package, const std::string &isa,
                          unsigned threads, const Values &inputs,
                          mlir::MLIRContext &context, Values &outputs,
                          const Compiled::Wishes &wishes) {
  std::unique_ptr<Compiled> compiled;
  if (Status status = Compiled::open(package, isa, context, compiled, wishes);
      failed(status))
    return status;
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
                               const std::string &target,
                               const std::string &entry, Scratch &scratch,
                               mlir::MLIRContext &context, Package &package) {
  CompileRequest request = requestOf(CompileOptions());
  request.model = model;
  request.folder = scratch.folder();
  request.hiddenStates = hiddenStates;
  request.imageSizeAtHand = imageSize;
  request.targets = {target.empty() ? "host" : target};
  if (!entry.empty())
    request.entries = {entry};
  request.name = "model";
  request.certify = false;
  if (Status status = compileModel(request, context, llvm::nulls());
      failed(status))
    return status;
  return findPackage(request.folder, context, package);
}

// The kind of devices meant where only a device is named.
static std::string deviceKindOf(const Package &package) {
  const std::vector<std::string> kinds = deviceTargetNames();
  for (const Package::Isa &isa : package.isas)
    if (llvm::is_contained(kinds, isa.name))
      return isa.name;
  return kinds.front();
}

Status mille::codeFor(const Package &package, const std::string &target,
                      const std::string &device, std::string &code) {
  const std::string on = target.empty() ? deviceKindOf(package) : target;
  code = device.empty() ? target : on + ":" + device;
  const Target *known = targetNamed(on);
  if (!device.empty() && !(known && known->isDevice()))
    return refuseOptions("--device is '" + device + "' but --target is '" +
                             target + "', which runs on no device",
                         "mille devices");
  return Status::done;
}

Status mille::checkCode(const Package &package, const std::string &code) {
  std::string isa = llvm::StringRef(code).split(':').first.str();
  auto name = [](const Package::Isa &isa) { return isa.name; };
  auto names = llvm::map_range(package.isas, name);
  if (isa.empty() || isa == "reference" || llvm::is_contained(names, isa))
    return Status::done;
  return refuseOptions("--target is '" + isa + "' but package " + package.name +
                           " holds " + llvm::join(names, ", "),
                       "mille compile MODEL --target=" + isa + " -o DIR");
}

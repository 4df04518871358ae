// Code that several commands share to run a package or a model once.
// Must not know which command calls it.
#include "compiler/driver/commands/OneRun.h"

#include "compiler/driver/Compiler.h"
#include "compiler/driver/Console.h"
#include "compiler/driver/Scratch.h"

using namespace mille;

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

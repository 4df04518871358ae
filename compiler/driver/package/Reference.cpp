// The reference run: the imported model, interpreted in double.
// Must not use generated code.
#include "compiler/driver/package/Reference.h"

#include "compiler/driver/package/ModelFiles.h"
#include "compiler/entries/DeriveEntries.h"
#include "compiler/import/Text.h"
#include "dialects/transformer/Transformer.h"

using namespace mille;

static mlir::Operation *modelIn(mlir::ModuleOp module) {
  for (auto model : module.getOps<transformer::ModelOp>())
    return model;
  return nullptr;
}

Status Reference::open(llvm::StringRef path, const ImportOptions &options,
                       mlir::MLIRContext &context, Reference &reference,
                       llvm::ArrayRef<std::string> entries) {
  Imported imported;
  if (Status status = importModel(path, options, context, imported);
      failed(status))
    return status;
  if (mlir::Operation *model = modelIn(*imported.module))
    if (Status status = deriveEntries(model, entries, LatentRows::none);
        failed(status))
      return status;
  reference.module = std::move(imported.module);
  reference.folder = imported.folder;
  reference.modelOp = modelIn(*reference.module);
  return reference.modelOp ? Status::done : Status::bug;
}

Status Reference::read(const Package &package, mlir::MLIRContext &context,
                       Reference &reference) {
  std::string path = package.file("mlir");
  reference.module = import::parseText(path, context);
  if (!reference.module)
    return Status::input; // the parser has reported the error
  reference.modelOp = modelIn(*reference.module);
  if (reference.modelOp)
    return Status::done;
  mlir::emitError(mlir::FileLineColLoc::get(&context, path, 0, 0))
      << "the file holds no transformer.model";
  return Status::input;
}

Status Reference::open(const Package &package, mlir::MLIRContext &context,
                       Reference &reference) {
  if (Status status = read(package, context, reference); failed(status))
    return status;
  mlir::Location place =
      mlir::FileLineColLoc::get(&context, package.file("mlir"), 0, 0);
  reference.folder = package.modelFolder;
  std::string hash =
      hashModel(package.modelPath, package.modelFolder, reference.modelOp);
  if (hash != package.modelHash) {
    mlir::emitError(place) << "hash of the model is " << hash << " but it was "
                           << package.modelHash
                           << " when the package was compiled";
    mlir::emitRemark(place) << "the model is " << package.modelPath;
    return Status::input;
  }
  return Status::done;
}

Status Reference::run(const Values &inputs, Values &outputs,
                      llvm::StringRef entry,
                      const llvm::StringMap<int64_t> &sizes, Routing *routing) {
  ParameterValues parameters(modelOp, folder);
  return interpret(modelOp, parameters, inputs, outputs, entry, sizes, {},
                   routing);
}

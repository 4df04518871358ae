// The reference run: the imported model, interpreted in double.
// Must not use generated code.
#pragma once
#include "compiler/driver/package/Package.h"
#include "compiler/import/Import.h"
#include "compiler/interpret/Routes.h"

namespace mille {

class Reference {
public:
  // Opens a model.
  static Status open(llvm::StringRef path, const ImportOptions &options,
                     mlir::MLIRContext &context, Reference &reference,
                     llvm::ArrayRef<std::string> entries = {});
  // Opens the NAME.mlir of a package and the files that it names. It is an
  // error if these have changed.
  static Status open(const Package &package, mlir::MLIRContext &context,
                     Reference &reference);
  // Opens the NAME.mlir alone: enough to describe the model, not to run it.
  static Status read(const Package &package, mlir::MLIRContext &context,
                     Reference &reference);

  // Runs an entry ("": the first). The inputs may hold the contents of its
  // states before the run, of all or of none; the outputs hold them after it.
  // `routing` gets the experts of its rows, or says them.
  Status run(const Values &inputs, Values &outputs, llvm::StringRef entry = "",
             const llvm::StringMap<int64_t> &sizes = {},
             Routing *routing = nullptr);
  mlir::Operation *model() { return modelOp; }
  mlir::OwningOpRef<mlir::ModuleOp> copy() { return module->clone(); }
  const std::string &storedIn() const { return folder; } // files of tensors

private:
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Operation *modelOp = nullptr;
  std::string folder;
};

} // namespace mille

// The reference run: the imported model, interpreted in double.
// Must not use generated code.
#pragma once
#include "compiler/driver/package/Package.h"
#include "compiler/import/Import.h"
#include "compiler/interpret/Interpret.h"

namespace mille {

class Reference {
public:
  // From the model itself.
  static Status open(llvm::StringRef path, const ImportOptions &options,
                     mlir::MLIRContext &context, Reference &reference,
                     llvm::ArrayRef<std::string> entries = {});
  // From NAME.mlir and the files that it names; an error where they changed.
  static Status open(const Package &package, mlir::MLIRContext &context,
                     Reference &reference);

  // An entry ("": the first). What its states hold before the run, all or none
  // of them, is among the inputs, and after it among the outputs.
  Status run(const Values &inputs, Values &outputs, llvm::StringRef entry = "",
             const llvm::StringMap<int64_t> &sizes = {});
  mlir::Operation *model() { return modelOp; }
  mlir::OwningOpRef<mlir::ModuleOp> copy() { return module->clone(); }
  const std::string &storedIn() const { return folder; } // files of tensors

private:
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Operation *modelOp = nullptr;
  std::string folder;
};

// Inputs of entry 0 from a seed: ids within bounds. Optional ones are left out,
// but with `withMask` the mask is there and the last sequence of several is
// shorter.
Values seededInputs(const Package &package,
                    const llvm::StringMap<int64_t> &sizes, bool withMask);

// A number for each size of a run of the package: `batch`, `tokens`, and
// `others` for what has another name.
llvm::StringMap<int64_t> sizesOfRun(const Package &package, int64_t batch,
                                    int64_t tokens, int64_t others);
// The same, but no more than the model takes.
llvm::StringMap<int64_t> sizesWithin(const Package &package, int64_t batch,
                                     int64_t tokens, int64_t others);

} // namespace mille

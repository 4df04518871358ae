// Measures on sample text which columns of weights matter (compile
// --calibrate). Must not round anything.
#pragma once
#include "compiler/Status.h"
#include "compiler/weights/ParameterValues.h"

#include <string>

namespace mille {

// The first ids of the text in a file, by the tokenizer of a model.
Status readSample(llvm::StringRef path, llvm::StringRef model,
                  llvm::StringRef folder, mlir::MLIRContext &context,
                  std::vector<int32_t> &ids);

// The mean square of each input column of each matmul's weight while the first
// entry of `module`, unrolled and in the transformer dialect, reads these ids;
// in double. `folder` has the model's files.
Status measureImportance(mlir::ModuleOp module, llvm::StringRef folder,
                         llvm::ArrayRef<int32_t> ids, Importance &importance);

} // namespace mille

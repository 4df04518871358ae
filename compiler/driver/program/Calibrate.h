// Measures on sample text which columns of weights matter (compile
// --calibrate). Must not round anything.
#pragma once
#include "compiler/Status.h"
#include "compiler/weights/ParameterValues.h"

#include <string>

namespace mille {

// The mean square of each input column of each matmul's weight while the first
// entry of `module`, unrolled and in the transformer dialect, reads the first
// ids of the text in the file `sample`; in double. `from` is the path that the
// module was imported from, whose tokenizer reads the text; `folder` has its
// files.
Status measureImportance(mlir::ModuleOp module, llvm::StringRef from,
                         llvm::StringRef folder, llvm::StringRef sample,
                         Importance &importance);

} // namespace mille

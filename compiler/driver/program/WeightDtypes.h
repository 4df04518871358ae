// Writes the types that --dtype gives to single weights into the model.
// Must not decide what a matmul makes of them (compiler/plan).
#pragma once
#include "dialects/transformer/Dtype.h"

namespace mille {

// Sets `dtype` of the parameters that matmuls read and a pattern matches. Fails
// with an error if a pattern matches none, or if layers are rolled, since then
// their parameters have one type each.
mlir::LogicalResult nameDtypes(mlir::Operation *model,
                               llvm::ArrayRef<DtypeChoice::Weights> weights,
                               bool isRolled);

// What nameDtypes has named in one model, in a copy of it.
void copyDtypes(mlir::Operation *from, mlir::Operation *to);

} // namespace mille

// Rows of parameters that follow from the model's description.
#pragma once
#include "dialects/transformer/Transformer.h"

namespace mille::differentiate {

// Those of the parameter that `user` names, as its attribute fixed_rows says;
// null: none are.
mlir::DenseI64ArrayAttr fixedRowsOf(mlir::Operation *user,
                                    mlir::Attribute parameter);
// Whether they are all of its rows: such a parameter has no gradient.
bool isFixed(mlir::Operation *user, mlir::Attribute parameter);

} // namespace mille::differentiate

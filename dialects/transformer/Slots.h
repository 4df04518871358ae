// What stands in the slots of a residual unit: norms and scales.
// Must not change a unit.
#pragma once
#include "dialects/transformer/Transformer.h"

#include <optional>

namespace mille::transformer {

// Whether there is a norm, and it is not the identity.
bool isNorm(NormAttr norm);
bool holdsNorm(mlir::ArrayAttr norms); // null: none

// The number of a scale, or 1 if it is absent. Nothing if it is a parameter, a
// schedule or a column of the layer table.
std::optional<double> constantOf(ScaleAttr scale);

} // namespace mille::transformer

// Parameters that follow from a model's description.
#pragma once
#include "dialects/transformer/Transformer.h"

namespace mille::transformer {

// Whether all rows are fixed: no step changes the parameter, and files do not
// hold it.
inline bool isFixed(ParameterOp parameter) {
  auto rows = parameter.getFixedRows();
  return rows && (*rows)[0] == (*rows)[2];
}

} // namespace mille::transformer

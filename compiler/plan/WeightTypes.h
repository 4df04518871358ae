// Decides the type in which each matmul reads its weight. Must not read
// numbers.
#pragma once
#include "dialects/kernel/Kernel.h"
#include "dialects/transformer/Dtype.h"
#include "mlir/IR/SymbolTable.h"

#include <string>

namespace mille::plan {

struct WeightType {
  Dtype dtype; // never `stored`
  // Why the weight stays f32 or is rounded once more, as a sentence; or empty.
  std::string why;
};

// The type that is asked for, which is `usual` for parameters that do not name
// one, or what comes nearest to it. A weight of several parameters, and a
// weight of several layers, has one type: the most exact that is asked for.
// `tables` finds parameters by name.
WeightType weightTypeOf(kernel::MatmulOp op, Dtype usual,
                        mlir::SymbolTableCollection &tables);

// Whether a file holds all numbers of a weight in bf16: as bf16 it is the same.
bool isStoredInBf16(kernel::WeightOp weight,
                    mlir::SymbolTableCollection &tables);

} // namespace mille::plan

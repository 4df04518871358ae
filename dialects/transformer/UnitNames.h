// Names a residual unit in reports, by its parameters' names.
// Must decide text only.
#pragma once
#include "dialects/transformer/Transformer.h"

#include <string>

namespace mille {

// `layers.*.attn` from the symbols of linears' weights, such as
// layers.*.attn.q.weight: drops `.weight` and the part before it. Several names
// are joined by `+`.
std::string unitName(llvm::ArrayRef<llvm::StringRef> weights);

// The same for a transformer.residual. It applies `rename` to symbols first.
std::string
unitName(mlir::Operation *residual,
         llvm::function_ref<mlir::FlatSymbolRefAttr(mlir::FlatSymbolRefAttr)>
             rename);

// 0, 1, 2, 5 -> "0-2,5"
std::string rangesOf(llvm::ArrayRef<int64_t> numbers,
                     llvm::StringRef separator = ",");

} // namespace mille

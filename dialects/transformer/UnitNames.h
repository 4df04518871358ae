// What a residual unit is called in reports: from its parameters' names.
// Decides nothing but text.
#pragma once
#include "dialects/transformer/Transformer.h"

#include <string>

namespace mille {

// `layers.*.attn` out of the symbols of linears' weights,
// layers.*.attn.q.weight and so on: without `.weight` and the part before;
// several are joined by `+`.
std::string unitName(llvm::ArrayRef<llvm::StringRef> weights);

// The same for a transformer.residual; `rename` is applied to symbols first.
std::string
unitName(mlir::Operation *residual,
         llvm::function_ref<mlir::FlatSymbolRefAttr(mlir::FlatSymbolRefAttr)>
             rename);

// 0, 1, 2, 5 -> "0-2,5"
std::string rangesOf(llvm::ArrayRef<int64_t> numbers);

} // namespace mille

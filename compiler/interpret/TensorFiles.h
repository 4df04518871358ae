// Named tensors of a run <-> safetensors files.
// Must not know what the tensors mean.
#pragma once
#include "compiler/interpret/Interpret.h"

#include <set>

namespace mille {

// Every tensor of the file; i32, i64 and the like become integers, f64, f32,
// f16 and bf16 numbers. Only those in `only` where it is not empty.
// `wide` gets the names of those stored as f64, where not null.
Status readTensors(llvm::StringRef path, mlir::MLIRContext &context,
                   Values &values, llvm::ArrayRef<std::string> only = {},
                   std::set<std::string> *wide = nullptr);

// Writes numbers as f32 (f64 with `wide`), integers as i64, in the order of the
// names; kept outputs entry by entry (splitEntries).
Status writeTensors(llvm::StringRef path, const Values &values, bool wide,
                    mlir::MLIRContext &context);

} // namespace mille

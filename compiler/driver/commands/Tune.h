// `mille compile --tune`: the tiles that are fastest on this machine.
#pragma once
#include "compiler/Status.h"
#include "compiler/driver/Options.h"
#include "mlir/IR/MLIRContext.h"

namespace mille {

// Compiles the model with each rank of tiles (Generator.h, tiles), runs each
// package by turns with that of rank 0 (batch 1, 128 tokens where the model
// takes so many, 1 thread), and compiles it with the fastest tile of each
// kernel: another than rank 0 where it takes 2 % less time. Tiles change no
// bits of the results.
Status tuneModel(const CompileOptions &options, mlir::MLIRContext &context,
                 llvm::raw_ostream &out);

} // namespace mille

// Lower: the planned program becomes LLVM IR: `forward` with the layer loop as a
// loop, and the constant `mille_model` that describes it.
#pragma once
#include "compiler/Status.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

#include <memory>

namespace mille {

// One weights-table entry: what link evaluates and writes.
struct WeightEntry {
  mlir::Attribute value;                // an expression, packed
  mlir::Location location;
  int64_t elements;                     // f32
};

// The weights table's layout: shared by lower (which reads it) and link.
struct WeightTable {
  std::vector<WeightEntry> globals;     // entries 0 .. globals - 1
  struct Layers {                       // one per kernel.layers, in order
    mlir::Operation *op;                // the kernel.layers
    uint64_t firstEntry;                // of its block
    uint64_t rowEntries;                // 1 (body number) + longest body
    std::vector<std::vector<WeightEntry>> bodies; // symbols are slot names
  };
  std::vector<Layers> layers;
  uint64_t entryCount = 0;
};

struct LowerOptions {
  std::string name;                     // prefix of the public symbols
  std::vector<std::string> isas;        // names, best first
  uint64_t weightsBytes = 0, weightsHash = 0;
  bool embedWeights = false;            // refer to NAME_weights_data
};

WeightTable collectWeights(mlir::Operation *model);

// An LLVM module that defines NAME_forward (private) and the constant NAME_model.
Status lowerProgram(mlir::Operation *model, const WeightTable &table,
                    const LowerOptions &options, llvm::LLVMContext &context,
                    std::unique_ptr<llvm::Module> &lowered);

} // namespace mille

// The constants that describe a model to the runtime: mille_model and the
// structs that it points at. Must not emit code, except NAME_model().
#pragma once
#include "compiler/lower/AbiTypes.h"
#include "compiler/lower/Lower.h"
#include "compiler/lower/Prepared.h"
#include "dialects/kernel/Signature.h"

namespace mille {
struct Training;
}

namespace mille::lower {

// A constant of a struct: every field with its value.
template <typename Field>
Constant record(mlir::Type type,
                llvm::ArrayRef<std::pair<Field, Constant>> fields) {
  return Constant::aggregate(type, inOrder<Field, Constant>(fields));
}

// A lowered entry: its function, and what the runtime must know of it.
struct EntryData {
  std::string name, symbol;
  kernel::Signature signature;
  kernel::ArenaSizes arena;
  kernel::RemovablePadding padding;
  ResizedTables tables;
};

// What a step must know of a model's parameters.
struct Parameters {
  uint64_t count = 0, updates = 0;
  Constant list = 0, names = 0;
};

// TrainingData.cpp: fails, with an error, where a program that trains reads a
// value that was computed of a trained parameter.
mlir::LogicalResult checkTrained(mlir::Operation *model,
                                 const WeightTable &table);

class ModelData {
public:
  ModelData(mlir::ModuleOp module, const AbiTypes &types,
            ConstantPool &constants, const LowerOptions &options)
      : module(module), types(types), constants(constants), options(options) {}

  // The symbol of the mille_kernel of an op; one for each name.
  std::string kernelOf(const KernelInfo &info);

  // NAME_model(), when all kernels are known.
  void emitModel(mlir::Operation *model, llvm::ArrayRef<EntryData> entries,
                 const kernel::SharedSignature &shared,
                 const WeightTable &table);

private:
  // `model`: where the infos are those of its states, else null.
  Constant tensorArray(llvm::ArrayRef<kernel::TensorInfo> infos,
                       const kernel::SharedSignature &shared,
                       mlir::Operation *model = nullptr);
  Constant entryOf(const EntryData &entry,
                   const kernel::SharedSignature &shared);
  Constant sizeArray(const kernel::SharedSignature &shared);
  Constant isaArray();
  Constant scheduleArray(llvm::ArrayRef<kernel::ScheduledScale> scales);
  Constant wordArray(llvm::ArrayRef<int64_t> words);
  Constant stackArray(llvm::ArrayRef<WeightTable::Layers> layers);
  // TrainingData.cpp: null where the model has no entry that trains it.
  Constant trainingOf(mlir::Operation *model, llvm::ArrayRef<EntryData> entries,
                      const WeightTable &table);
  Parameters parametersOf(mlir::Operation *model, const WeightTable &table,
                          const Training &training);
  Constant groupArray(const Training &training);
  // The address of a constant array; null for an empty one.
  Constant array(llvm::StringRef stem, mlir::Type element,
                 std::vector<Constant> parts);
  Constant text(llvm::StringRef string) {
    return Constant::address(types, constants.addString(string));
  }

  mlir::ModuleOp module;
  const AbiTypes &types;
  ConstantPool &constants;
  const LowerOptions &options;
  std::vector<std::pair<std::string, std::string>> kernels; // name, symbol
  uint64_t scratchBytes = 0, scratchBytesPerToken = 0;
};

} // namespace mille::lower

// Lower: the planned program becomes the host program: `forward` with the layer
// loop as a loop, and the constant `mille_model` that describes it.
#pragma once
#include "compiler/Status.h"
#include "compiler/kernels/KernelInfo.h"
#include "compiler/kernels/Targets.h"
#include "compiler/weights/WeightTable.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <string>

namespace mille {

struct LowerOptions {
  std::string name;         // prefix of the public symbols
  std::vector<Target> isas; // best first
  // What the generators say of a kernel, and kernelSymbol.
  std::function<KernelInfo(mlir::Operation *)> describe;
  std::function<std::string(const KernelInfo &, const Target &, RowClass)>
      symbol;
  WeightsFile weights;
  uint64_t trainedHash = 0;  // of the model that is trained; 0: none is
  bool embedWeights = false; // refer to NAME_weights_data
};

// The planned `forward` in `model` as a module in the LLVM dialect. It defines
// NAME_model(), which gives the constant mille_model, and what that points at.
Status lowerProgram(mlir::Operation *model, const WeightTable &table,
                    const LowerOptions &options,
                    mlir::OwningOpRef<mlir::ModuleOp> &program);

// That module as a relocatable x86-64 object; runs on any x86-64.
Status emitObject(mlir::ModuleOp program, std::string &object);

} // namespace mille

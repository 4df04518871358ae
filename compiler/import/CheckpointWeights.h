// The parameters of a training's checkpoint, which lie in it one by one under
// the model's own names, whatever the files of its family fuse.
// Must give expressions only, not numbers.
#pragma once
#include "compiler/import/StoredTensors.h"
#include "dialects/transformer/Transformer.h"
#include "llvm/ADT/StringSet.h"

namespace mille::import {

// While a model is built, a checkpoint gives shapes alone. `fill` then gives
// each parameter its tensor.
class CheckpointWeights : public WeightSource {
public:
  CheckpointWeights(StoredTensors &tensors, mlir::LocationAttr at,
                    Problems &problems, mlir::MLIRContext &context)
      : tensors(tensors), at(at), problems(problems), context(context) {}
  mlir::Attribute value(const Wanted &wanted) override;
  void fill(transformer::ModelOp model);

private:
  // Whether a value is made of numbers that files hold.
  bool isStored(mlir::Attribute value) const;

  StoredTensors &tensors;
  mlir::LocationAttr at;
  Problems &problems;
  mlir::MLIRContext &context;
  llvm::StringSet<> asked;
};

} // namespace mille::import

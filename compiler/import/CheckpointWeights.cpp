// Finds a model's parameters in a training's checkpoint.
// Must refuse a checkpoint that lacks one.
#include "compiler/import/CheckpointWeights.h"
#include "compiler/import/schemes/Recipe.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mille;
using namespace mille::import;

mlir::Attribute CheckpointWeights::value(const Wanted &wanted) {
  asked.insert(wanted.name);
  return NoWeights(context).value(wanted);
}

bool CheckpointWeights::isStored(mlir::Attribute value) const {
  bool stored = false;
  value.walk([&](transformer::DrawnAttr drawn) {
    stored |= asked.contains(drawn.getStream());
  });
  return stored;
}

void CheckpointWeights::fill(transformer::ModelOp model) {
  for (auto parameter : model.getOps<transformer::ParameterOp>()) {
    llvm::SmallVector<Dimension, 2> shape;
    for (int64_t extent :
         llvm::cast<mlir::ShapedType>(parameter.getType()).getShape())
      shape.push_back({extent, {}});
    StoredTensors::Entry *entry = tensors.find(parameter.getSymName());
    if (!entry && isStored(parameter.getValue()))
      missingTensor(parameter.getSymName(), shape, tensors, at, problems);
    if (!entry)
      continue;
    entry->used = true;
    if (mlir::Attribute value = storedValue(*entry, shape, problems, context))
      parameter.setValueAttr(value);
  }
}

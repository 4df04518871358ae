// A segment has the bodies that its layers run, and their rows of the table.
#include "compiler/differentiate/Segments.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mille::transformer;

namespace {

// Layers `first` to `end` of a loop, on `input`.
LayersOp segmentOf(LayersOp layers, Value input, size_t first, size_t end) {
  OpBuilder builder(layers);
  SmallVector<int64_t> used, bodies; // of the loop; of the segment
  for (int64_t body : layers.getBodies().slice(first, end - first)) {
    if (!llvm::is_contained(used, body))
      used.push_back(body);
    bodies.push_back(llvm::find(used, body) - used.begin());
  }
  SmallVector<Attribute> slots;
  for (int64_t body : used)
    slots.push_back(layers.getSlots()[body]);
  OperationState state(layers.getLoc(), LayersOp::getOperationName());
  LayersOp::build(builder, state, layers.getType(), input,
                  builder.getArrayAttr(slots),
                  builder.getDenseI64ArrayAttr(bodies),
                  builder.getArrayAttr(
                      layers.getTable().getValue().slice(first, end - first)),
                  ArrayAttr(), UnitAttr(), used.size());
  auto segment = cast<LayersOp>(builder.create(state));
  segment->setDiscardableAttrs(layers->getDiscardableAttrDictionary());
  for (auto [number, body] : llvm::enumerate(used)) {
    IRMapping mapping;
    layers.getBodyRegions()[body].cloneInto(&segment.getBodyRegions()[number],
                                            mapping);
  }
  segment.walk(
      [&](DropoutOp drop) { drop.setAfter(drop.getAfter() + int64_t(first)); });
  return segment;
}

} // namespace

SmallVector<LayersOp> mille::differentiate::cutLayers(Block &entry,
                                                      int64_t length) {
  SmallVector<LayersOp> followed;
  for (LayersOp layers : llvm::to_vector(entry.getOps<LayersOp>())) {
    const size_t count = layers.getBodies().size();
    if (int64_t(count) <= length)
      continue;
    Value stream = layers.getInput();
    for (size_t first = 0; first < count; first += length) {
      const size_t end = std::min(count, first + size_t(length));
      LayersOp segment = segmentOf(layers, stream, first, end);
      stream = segment.getResult();
      if (end < count)
        followed.push_back(segment);
    }
    layers.getResult().replaceAllUsesWith(stream);
    layers.erase();
  }
  return followed;
}

// Collects the weights of a planned program in program order, and looks up
// symbols in the layer table. Must not read numbers.
#include "compiler/weights/WeightTable.h"
#include "dialects/kernel/Signature.h"
#include "dialects/transformer/Training.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mille;
using kernel::LayersOp;

namespace {

// Calls `use` for each op that has a place in the table. A gradient lies in its
// memory where its parameter lies among the weights.
template <typename Use> void forEachWeight(Operation *in, Use use) {
  in->walk([&](Operation *op) {
    if (isa<kernel::WeightOp, kernel::GradientOp>(op))
      use(op);
  });
}

Attribute valueOf(Operation *weight) {
  if (auto gradient = dyn_cast<kernel::GradientOp>(weight))
    return gradient.getParameterAttr();
  return cast<kernel::WeightOp>(weight).getValue();
}

// The key of an entry: the same value in two element types makes two entries.
using Stored = std::pair<Attribute, Type>;
Stored storedBy(Operation *weight) {
  auto type = cast<ShapedType>(weight->getResult(0).getType());
  return {valueOf(weight), type.getElementType()};
}

WeightEntry entryOf(Operation *weight, Attribute value) {
  int64_t elements = 1;
  auto type = cast<ShapedType>(weight->getResult(0).getType());
  for (int64_t extent : type.getShape())
    if (elements < 0 || llvm::MulOverflow(elements, extent, elements))
      elements = -1;
  return {value, weight->getLoc(), elements, type.getElementType()};
}

// The distinct weights of one body, in order. Writes each op's place to
// `place`.
std::vector<Operation *> weightsOf(Region &body,
                                   DenseMap<Operation *, uint64_t> &place) {
  std::vector<Operation *> distinct;
  DenseMap<Stored, uint64_t> seen;
  for (Operation &op : body.front())
    forEachWeight(&op, [&](Operation *weight) {
      auto [at, fresh] =
          seen.try_emplace(storedBy(weight), 1 + distinct.size());
      if (fresh)
        distinct.push_back(weight);
      place[weight] = at->second;
    });
  return distinct;
}

// `value` in layer `layer`: columns are replaced by their entries in the table.
Attribute inLayer(LayersOp layers, size_t layer, Attribute value) {
  return transformer::replaceSymbols(value, [&](FlatSymbolRefAttr symbol) {
    return layers.entryOf(layer, symbol);
  });
}

WeightTable::Layers collectLayers(LayersOp layers, uint64_t firstEntry,
                                  DenseMap<Operation *, uint64_t> &place) {
  WeightTable::Layers block{layers, firstEntry, 1, {}, {}};
  std::vector<std::vector<Operation *>> bodies;
  for (Region &body : layers->getRegions()) {
    bodies.push_back(weightsOf(body, place));
    block.rowEntries =
        std::max<uint64_t>(block.rowEntries, 1 + bodies.back().size());
  }
  for (auto [layer, body] : llvm::enumerate(layers.getBodies())) {
    block.bodies.push_back(body);
    std::vector<WeightEntry> &row = block.rows.emplace_back();
    for (Operation *weight : bodies[body])
      row.push_back(entryOf(weight, inLayer(layers, layer, valueOf(weight))));
  }
  return block;
}

} // namespace

WeightTable mille::collectWeights(Operation *model) {
  WeightTable table;
  if (kernel::entryOf(model, trainStepName))
    model->walk([&](transformer::ParameterOp op) {
      if (auto drawn = dyn_cast_or_null<transformer::DrawnAttr>(op.getValue()))
        table.drawn[FlatSymbolRefAttr::get(op.getSymNameAttr())] = drawn;
    });
  DenseMap<Stored, uint64_t> seen;
  SmallVector<func::FuncOp> entries = kernel::entriesOf(model);
  for (func::FuncOp entry : entries)
    forEachWeight(entry, [&](Operation *weight) {
      if (weight->getParentOfType<LayersOp>())
        return;
      auto [at, fresh] =
          seen.try_emplace(storedBy(weight), table.globals.size());
      if (fresh)
        table.globals.push_back(entryOf(weight, valueOf(weight)));
      table.place[weight] = at->second;
    });
  table.entryCount = table.globals.size();
  for (func::FuncOp entry : entries)
    entry.walk([&](LayersOp layers) {
      table.layers.push_back(
          collectLayers(layers, table.entryCount, table.place));
      const WeightTable::Layers &block = table.layers.back();
      table.entryCount += block.rowEntries * block.rows.size();
    });
  return table;
}

// Adds inputs and states to an entry that is being made.
// Must not know what the states are for.
#include "compiler/entries/EntryStates.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mille;
using namespace mille::entries;
using namespace mille::transformer;

BlockArgument EntryStates::addInput(Type type, StringRef name,
                                    ArrayRef<ShapeExtent> shape) {
  Builder builder(entry.getContext());
  NamedAttrList words;
  words.set("transformer.name", builder.getStringAttr(name));
  words.set("transformer.shape", ShapeAttr::get(entry.getContext(), shape));
  unsigned number = entry.getNumArguments();
  (void)entry.insertArgument(
      number, type, words.getDictionary(entry.getContext()), entry.getLoc());
  return entry.getArgument(number);
}

BlockArgument EntryStates::addCounts(StringRef name) {
  return addInput(
      RankedTensorType::get({ShapedType::kDynamic},
                            IntegerType::get(entry.getContext(), 32)),
      name, {sizes::batch});
}

BlockArgument EntryStates::stateFor(StringRef role, Type element,
                                    ShapeExtent rows, int64_t columns,
                                    std::optional<int64_t> layer) {
  for (State &state : states)
    if (state.role == role && state.element == element &&
        state.columns == columns && bool(layer) == state.perLayer &&
        !llvm::is_contained(state.used, layer.value_or(0))) {
      state.used.push_back(layer.value_or(0));
      return state.argument;
    }
  int64_t same =
      llvm::count_if(states, [&](State &state) { return state.role == role; });
  std::string name =
      (role + (same ? "_" + std::to_string(same + 1) : "")).str();
  int64_t entries = layer ? layers : 1;
  int64_t dynamic = ShapedType::kDynamic;
  auto type = RankedTensorType::get(
      {entries, dynamic, rows.isSize() ? dynamic : rows.count, columns},
      element);
  BlockArgument argument =
      addInput(type, name, {entries, sizes::batch, rows, columns});
  entry.setArgAttr(argument.getArgNumber(), "transformer.state",
                   UnitAttr::get(entry.getContext()));
  states.push_back({role.str(),
                    element,
                    columns,
                    layer.has_value(),
                    {layer.value_or(0)},
                    argument});
  return argument;
}

std::optional<int64_t> mille::entries::layerOf(Value value) {
  Operation *in = value.getParentBlock()->getParentOp();
  auto unit = dyn_cast<ResidualOp>(in);
  if (!unit)
    unit = in->getParentOfType<ResidualOp>();
  if (!unit || !unit.getLayer())
    return std::nullopt;
  return *unit.getLayer();
}

int64_t mille::entries::layersOf(func::FuncOp entry) {
  int64_t layers = 1;
  entry.walk([&](ResidualOp unit) {
    if (auto layer = unit.getLayer())
      layers = std::max<int64_t>(layers, *layer + 1);
  });
  return layers;
}

// Checks the constraints of a layer stack and looks up its columns, for both
// dialects.
#include "dialects/transformer/Symbols.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mille::transformer;
using mille::shapeText;

#include "dialects/transformer/LayerStack.cpp.inc"

namespace {

Symbol parameterNamed(Operation *model, FlatSymbolRefAttr name,
                      SymbolTableCollection &tables) {
  if (!model)
    return {{}, nullptr, true};
  auto parameter = dyn_cast_or_null<ParameterOp>(
      tables.lookupSymbolIn(model, name.getAttr()));
  if (!parameter)
    return {};
  return {parameter.getTypeAttr(), parameter};
}

LogicalResult verifySlots(LayerStack stack) {
  Operation *op = stack;
  ArrayAttr slots = stack.getSlots();
  if (slots.size() != op->getNumRegions()) // C1
    return op->emitOpError()
           << "slots has " << slots.size() << " lists but there are "
           << op->getNumRegions() << " bodies";
  for (auto [body, list] : llvm::enumerate(slots)) {
    auto names = dyn_cast<ArrayAttr>(list);
    llvm::StringSet<> seen;
    for (Attribute name : names ? names.getValue() : ArrayRef<Attribute>())
      if (!isa<StringAttr>(name)) {
        names = nullptr;
        break;
      } else if (!seen.insert(cast<StringAttr>(name).getValue()).second) // C1
        return op->emitOpError()
               << "slots of body " << body << " name " << name << " twice";
    if (!names) // C1
      return op->emitOpError() << "slots of body " << body << " is " << list
                               << " but must be a list of names";
  }
  return success();
}

LogicalResult verifyBodies(LayerStack stack) {
  Operation *op = stack;
  ArrayRef<int64_t> bodies = stack.getBodies();
  if (bodies.empty()) // C2
    return op->emitOpError("has no layers");
  if (stack.getTable().size() != bodies.size()) // C2
    return op->emitOpError() << "table has " << stack.getTable().size()
                             << " rows but bodies has " << bodies.size();
  SmallVector<bool> used(op->getNumRegions(), false);
  for (auto [layer, body] : llvm::enumerate(bodies)) {
    if (body < 0 || body >= int64_t(used.size())) // C2
      return op->emitOpError() << "body of layer " << layer << " is " << body
                               << " but there are " << used.size() << " bodies";
    used[body] = true;
  }
  for (auto [body, isUsed] : llvm::enumerate(used))
    if (!isUsed) // C1
      return op->emitOpError() << "body " << body << " is run by no layer";
  return success();
}

LogicalResult verifyTable(LayerStack stack) {
  Operation *op = stack;
  for (auto [layer, body] : llvm::enumerate(stack.getBodies())) {
    size_t columns = stack.namesOf(body).size();
    auto row = dyn_cast<ArrayAttr>(stack.getTable()[layer]);
    if (!row) // C3
      return op->emitOpError()
             << "table of layer " << layer << " is " << stack.getTable()[layer]
             << " but must be a list of entries";
    if (row.size() != columns) // C3
      return op->emitOpError()
             << "table of layer " << layer << " has " << row.size()
             << " entries but body " << body << " has " << columns << " slots";
    for (Attribute entry : row) {
      auto number = dyn_cast<FloatAttr>(entry);
      if (!isa<FlatSymbolRefAttr>(entry) &&
          !(number && number.getType().isF64())) // C3
        return op->emitOpError()
               << "table of layer " << layer << " has " << entry
               << " but entries are symbols or f64 numbers";
    }
  }
  return success();
}

} // namespace

LogicalResult mille::transformer::verifyLayerStack(Operation *op) {
  auto stack = cast<LayerStack>(op);
  if (failed(verifySlots(stack)) || failed(verifyBodies(stack)))
    return failure();
  return verifyTable(stack);
}

// There are many ops, so a lookup must be cheap: it visits only the op's
// ancestors and the slots of one body.
Symbol mille::transformer::resolveSymbol(Operation *user,
                                         FlatSymbolRefAttr name,
                                         SymbolTableCollection &tables) {
  Operation *model = user;
  for (Region *region = user->getParentRegion(); region;
       region = region->getParentRegion()) {
    model = region->getParentOp();
    if (isa<ModelOp>(model))
      break;
    auto stack = dyn_cast<LayerStack>(model);
    if (!stack)
      continue;
    size_t body = region->getRegionNumber();
    if (!stack.columnNamed(body, name.getAttr()))
      continue;
    Attribute entry = stack.entryOf(stack.layersOf(body).front(), name);
    if (auto symbol = dyn_cast<FlatSymbolRefAttr>(entry))
      return resolveSymbol(stack, symbol, tables);
    return {entry, stack};
  }
  return parameterNamed(isa<ModelOp>(model) ? model : nullptr, name, tables);
}

LogicalResult mille::transformer::verifyColumns(LayerStack stack,
                                                SymbolTableCollection &tables) {
  Operation *op = stack;
  auto model = op->getParentOfType<ModelOp>();
  // The first layer of each body sets its columns' types.
  SmallVector<std::optional<size_t>> first(op->getNumRegions());
  auto meaningOf = [&](Attribute entry) -> Symbol {
    if (auto symbol = dyn_cast<FlatSymbolRefAttr>(entry))
      return parameterNamed(model, symbol, tables);
    return {entry, nullptr};
  };
  for (auto [layer, body] : llvm::enumerate(stack.getBodies())) {
    if (!first[body])
      first[body] = layer;
    for (auto [column, slot] : llvm::enumerate(stack.namesOf(body))) {
      Attribute entry = stack.entriesOf(layer)[column];
      Attribute other = stack.entriesOf(*first[body])[column];
      Symbol here = meaningOf(entry), there = meaningOf(other);
      if (here.open || there.open) {
        if (isa<FloatAttr>(entry) == isa<FloatAttr>(other))
          continue;
      } else if (!here.meaning) { // C5
        return op->emitOpError() << "table of layer " << layer << " names "
                                 << entry << ", which is not a parameter";
      } else if (here.meaning == there.meaning ||
                 (isa<FloatAttr>(entry) && isa<FloatAttr>(other))) {
        continue;
      }
      auto error = op->emitOpError() // C5
                   << "column " << slot << " is " << entry << " at layer "
                   << layer << " but " << other << " at layer " << *first[body]
                   << ", which has another type";
      for (const Symbol &end : {here, there})
        if (end.definition)
          error.attachNote(end.definition->getLoc())
              << "a parameter of type " << end.meaning << " is defined here";
      return error;
    }
  }
  return success();
}

FailureOr<RankedTensorType>
mille::transformer::typeOfValue(Operation *user, Attribute value,
                                SymbolTableCollection &tables) {
  std::string why;
  bool isOpen = false;
  auto type = valueType(
      value,
      [&](FlatSymbolRefAttr name) {
        Symbol symbol = resolveSymbol(user, name, tables);
        isOpen |= symbol.open;
        return symbol.meaning;
      },
      why);
  if (isOpen)
    return RankedTensorType();
  if (failed(type))
    return user->emitOpError() << "value " << why;
  return type;
}

LogicalResult mille::transformer::verifyShapeOf(Operation *user, StringRef role,
                                                FlatSymbolRefAttr name,
                                                ArrayRef<int64_t> shape,
                                                SymbolTableCollection &tables) {
  if (!name)
    return success();
  Symbol symbol = resolveSymbol(user, name, tables);
  if (symbol.open)
    return success();
  if (!symbol.meaning)
    return user->emitOpError()
           << role << " names " << name << ", which is not a parameter";
  auto type = dyn_cast<TypeAttr>(symbol.meaning);
  ArrayRef<int64_t> found;
  if (type)
    found = cast<RankedTensorType>(type.getValue()).getShape();
  bool fits = type && found.size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = shape[i] == -1 || shape[i] == found[i];
  if (fits)
    return success();
  SmallVector<int64_t> wanted(shape);
  std::replace(wanted.begin(), wanted.end(), int64_t(-1), ShapedType::kDynamic);
  auto error = user->emitOpError() << role << ' ' << name << " is ";
  if (type)
    error << shapeText(found);
  else
    error << "the number " << symbol.meaning;
  error << " but must be " << shapeText(wanted);
  error.attachNote(symbol.definition->getLoc()) << name << " is given here";
  return error;
}

LogicalResult mille::transformer::verifyLinearShapes(
    Operation *user, FlatSymbolRefAttr weight, FlatSymbolRefAttr bias,
    ArrayRef<int64_t> rowsAndColumns, int64_t outputs, bool byExpert,
    SymbolTableCollection &tables) {
  SmallVector<int64_t> ofWeight(rowsAndColumns), ofBias{outputs};
  if (byExpert)
    for (auto *shape : {&ofWeight, &ofBias})
      shape->insert(shape->begin(), -1);
  if (failed(verifyShapeOf(user, "weight", weight, ofWeight, tables)))
    return failure();
  return verifyShapeOf(user, "bias", bias, ofBias, tables);
}

// Finds equal layers structurally and makes them bodies and a table.
// Must not look at names to decide what is equal, nor at what a layer computes.
#include "compiler/fuse/Passes.h"
#include "compiler/fuse/UnitNames.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"

#include <map>
#include <set>

namespace mille {
#define GEN_PASS_DEF_ROLL
#include "compiler/fuse/Passes.h.inc"
} // namespace mille

using namespace mlir;
using namespace mille::transformer;

namespace {

// One layer of a stretch: its units and keeps in order, and what may differ
// between equal layers, in order of first appearance.
struct Layer {
  SmallVector<Operation *> ops;
  SmallVector<FlatSymbolRefAttr> symbols;
  SmallVector<double> constants;
  size_t body = 0;
};

// Units whose only link is the stream.
struct Stretch {
  SmallVector<ResidualOp> units;
};

// Calls `visit` on every inherent attribute of `op` and the ops in it, in an
// order that depends on the structure only.
void forEachAttribute(
    Operation *op,
    llvm::function_ref<void(Operation *, StringAttr, Attribute)> visit) {
  for (StringAttr name : op->getName().getAttributeNames())
    visit(op, name, op->getInherentAttr(name).value_or(Attribute()));
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        forEachAttribute(&inner, visit);
}

bool isLayerNumber(Operation *op, StringAttr name) {
  return isa<ResidualOp>(op) && name == "layer";
}
bool isKeepIndex(Operation *op, StringAttr name) {
  return isa<KeepOp>(op) && name == "index";
}
bool isPlainConstant(ScaleAttr scale) {
  return scale.getKind() == ScaleKind::constant && !scale.getSymbol();
}

// What equal layers share, as numbers: two layers are equal when theirs are.
class Signature {
public:
  Signature(Layer &layer, int64_t position, Value stream,
            const llvm::DenseMap<StringAttr, Attribute> &types)
      : layer(layer), position(position), types(types) {
    number(stream);
    for (Operation *op : layer.ops)
      add(op);
  }
  std::vector<uint64_t> words;

private:
  enum Tag : uint64_t { symbol = 1, constant, local, outside, list, region };

  void word(const void *pointer) {
    words.push_back(reinterpret_cast<uintptr_t>(pointer));
  }
  void number(Value value) { values.try_emplace(value, values.size()); }

  void add(Operation *op) {
    word(op->getName().getAsOpaquePointer());
    for (Value operand : op->getOperands()) {
      auto known = values.find(operand);
      words.push_back(known == values.end() ? outside : local);
      if (known == values.end())
        word(operand.getAsOpaquePointer());
      else
        words.push_back(known->second);
    }
    for (StringAttr name : op->getName().getAttributeNames()) {
      Attribute attribute = op->getInherentAttr(name).value_or(Attribute());
      if (isLayerNumber(op, name))
        continue;
      if (isKeepIndex(op, name))
        words.push_back(cast<IntegerAttr>(attribute).getInt() - position);
      else
        add(attribute);
    }
    word(op->getDiscardableAttrDictionary().getAsOpaquePointer());
    for (Value result : op->getResults()) {
      word(result.getType().getAsOpaquePointer());
      number(result);
    }
    for (Region &inside : op->getRegions()) {
      words.push_back(region);
      for (Block &block : inside) {
        for (BlockArgument argument : block.getArguments()) {
          word(argument.getType().getAsOpaquePointer());
          number(argument);
        }
        for (Operation &inner : block)
          add(&inner);
      }
    }
  }

  void add(Attribute attribute) {
    if (auto reference = dyn_cast_or_null<FlatSymbolRefAttr>(attribute)) {
      auto [at, isNew] = symbols.try_emplace(reference, symbols.size());
      words.push_back(symbol);
      words.push_back(at->second);
      if (!isNew)
        return;
      layer.symbols.push_back(reference);
      word(types.lookup(reference.getAttr()).getAsOpaquePointer());
    } else if (auto norm = dyn_cast_or_null<NormAttr>(attribute)) {
      words.push_back(uint64_t(norm.getKind()));
      words.push_back(llvm::bit_cast<uint64_t>(double(norm.getEps())));
      words.push_back(uint64_t(norm.getAffine()));
      add(norm.getWeight());
      add(norm.getBias());
    } else if (auto scale = dyn_cast_or_null<ScaleAttr>(attribute)) {
      if (isPlainConstant(scale)) {
        words.push_back(constant);
        layer.constants.push_back(scale.getValue());
      } else if (scale.getSymbol()) {
        words.push_back(uint64_t(scale.getKind()));
        words.push_back(uint64_t(scale.getShare()));
        add(scale.getSymbol());
      } else {
        word(attribute.getAsOpaquePointer());
      }
    } else if (auto array = dyn_cast_or_null<ArrayAttr>(attribute)) {
      words.push_back(list);
      words.push_back(array.size());
      for (Attribute element : array)
        add(element);
    } else {
      word(attribute.getAsOpaquePointer());
    }
  }

  Layer &layer;
  int64_t position;
  const llvm::DenseMap<StringAttr, Attribute> &types;
  llvm::DenseMap<Value, uint64_t> values;
  llvm::DenseMap<Attribute, uint64_t> symbols;
};

// Replaces symbols and plain constants of a cloned layer by columns. Constants
// come in the order in which Signature met them.
class Generalise {
public:
  llvm::DenseMap<Attribute, FlatSymbolRefAttr> symbols;
  SmallVector<FlatSymbolRefAttr> constants; // null: stays inline

  Attribute operator()(Attribute attribute) {
    if (auto reference = dyn_cast_or_null<FlatSymbolRefAttr>(attribute))
      return renamed(reference);
    if (auto norm = dyn_cast_or_null<NormAttr>(attribute))
      return NormAttr::get(norm.getContext(), norm.getKind(), norm.getEps(),
                           norm.getAffine(), renamed(norm.getWeight()),
                           renamed(norm.getBias()), norm.getGroup(),
                           norm.getCast());
    if (auto scale = dyn_cast_or_null<ScaleAttr>(attribute)) {
      FlatSymbolRefAttr column =
          isPlainConstant(scale) ? constants[next++] : renamed(scale.getSymbol());
      if (column == scale.getSymbol())
        return scale;
      return ScaleAttr::get(scale.getContext(), scale.getKind(), F64(1.0),
                            StringAttr(), column, scale.getShare(),
                            scale.getFrom(), scale.getTo(), scale.getSteps());
    }
    if (auto array = dyn_cast_or_null<ArrayAttr>(attribute)) {
      SmallVector<Attribute> elements;
      for (Attribute element : array)
        elements.push_back((*this)(element));
      return ArrayAttr::get(array.getContext(), elements);
    }
    return attribute;
  }

private:
  FlatSymbolRefAttr renamed(FlatSymbolRefAttr reference) {
    auto found = symbols.find(reference);
    return found == symbols.end() ? reference : found->second;
  }
  size_t next = 0;
};

class Roller {
public:
  explicit Roller(ModelOp model) : model(model) {
    for (auto parameter : model.getBody().getOps<ParameterOp>())
      types.try_emplace(parameter.getSymNameAttr(), parameter.getTypeAttr());
  }

  void run(func::FuncOp function) {
    for (Stretch &stretch : findStretches(function.front()))
      roll(stretch);
  }

private:
  SmallVector<Stretch> findStretches(Block &block);
  void roll(Stretch &stretch);
  SmallVector<Layer> split(Stretch &stretch);
  void fillBody(Region &region, ArrayRef<Layer *> layers, int64_t position,
                Value stream, SmallVectorImpl<Attribute> &slots,
                SmallVectorImpl<SmallVector<Attribute>> &rows);

  ModelOp model;
  llvm::DenseMap<StringAttr, Attribute> types;
};

// A unit continues a stretch when it reads the last unit's result and nothing
// else does but keeps at the same level.
SmallVector<Stretch> Roller::findStretches(Block &block) {
  SmallVector<Stretch> stretches;
  auto continues = [](ResidualOp last, ResidualOp unit) {
    return unit.getInput() == last.getResult() &&
           llvm::all_of(last.getResult().getUsers(), [&](Operation *user) {
             return user == unit.getOperation() ||
                    (isa<KeepOp>(user) && user->getBlock() == unit->getBlock());
           });
  };
  for (auto unit : block.getOps<ResidualOp>()) {
    if (stretches.empty() || !continues(stretches.back().units.back(), unit))
      stretches.emplace_back();
    stretches.back().units.push_back(unit);
  }
  return stretches;
}

// Units with the same `layer` are one layer; a unit without is its own. Keeps
// of a unit's input go with the unit.
SmallVector<Layer> Roller::split(Stretch &stretch) {
  SmallVector<Layer> layers;
  std::optional<uint64_t> last;
  for (ResidualOp unit : stretch.units) {
    if (layers.empty() || !unit.getLayer() || unit.getLayer() != last)
      layers.emplace_back();
    last = unit.getLayer();
    SmallVector<Operation *> keeps;
    for (Operation *user : unit.getInput().getUsers())
      if (isa<KeepOp>(user) && user->getBlock() == unit->getBlock())
        keeps.push_back(user);
    llvm::sort(keeps, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    llvm::append_range(layers.back().ops, keeps);
    layers.back().ops.push_back(unit);
  }
  return layers;
}

// `first` with every dotted part that is not the same in all `names` replaced
// by `*`: layers.*.attn.q.weight.
std::string columnName(ArrayRef<StringRef> names) {
  SmallVector<StringRef> parts, other;
  names.front().split(parts, '.');
  for (StringRef name : names.drop_front()) {
    other.clear();
    name.split(other, '.');
    if (other.size() != parts.size())
      return (names.front() + ".*").str();
    for (auto [part, there] : llvm::zip(parts, other))
      if (part != there)
        part = "*";
  }
  return llvm::join(parts, ".");
}

// Which slot of its unit each plain constant is: "skip_scale", ..., in the order
// in which Signature meets them, with the unit they belong to.
SmallVector<std::pair<Operation *, StringRef>> constantSites(const Layer &layer) {
  SmallVector<std::pair<Operation *, StringRef>> sites;
  for (Operation *op : layer.ops)
    forEachAttribute(op, [&](Operation *at, StringAttr name, Attribute value) {
      auto one = [&](Attribute attribute) {
        auto scale = dyn_cast_or_null<ScaleAttr>(attribute);
        if (scale && isPlainConstant(scale))
          sites.emplace_back(at, name.getValue());
      };
      if (auto array = dyn_cast_or_null<ArrayAttr>(value))
        llvm::for_each(array, one);
      else
        one(value);
    });
  return sites;
}

void Roller::fillBody(Region &region, ArrayRef<Layer *> layers,
                      int64_t position, Value stream,
                      SmallVectorImpl<Attribute> &slots,
                      SmallVectorImpl<SmallVector<Attribute>> &rows) {
  MLIRContext *context = model.getContext();
  const Layer &first = *layers.front();
  std::set<std::string> taken;
  auto addColumn = [&](std::string name) {
    std::string unique = name;
    for (int copy = 2; types.count(StringAttr::get(context, unique)) ||
                       !taken.insert(unique).second;
         ++copy)
      unique = name + "." + std::to_string(copy);
    slots.push_back(StringAttr::get(context, unique));
    return FlatSymbolRefAttr::get(context, unique);
  };
  rows.resize(layers.size());

  Generalise generalise;
  for (size_t i = 0; i < first.symbols.size(); ++i) {
    if (llvm::all_of(layers, [&](Layer *layer) {
          return layer->symbols[i] == first.symbols[i];
        }))
      continue;
    SmallVector<StringRef> names;
    for (auto [layer, row] : llvm::zip(layers, rows)) {
      names.push_back(layer->symbols[i].getValue());
      row.push_back(layer->symbols[i]);
    }
    generalise.symbols[first.symbols[i]] = addColumn(columnName(names));
  }
  auto sites = constantSites(first);
  for (size_t i = 0; i < first.constants.size(); ++i) {
    generalise.constants.emplace_back();
    if (llvm::all_of(layers, [&](Layer *layer) {
          return F64(layer->constants[i]) == F64(first.constants[i]);
        }))
      continue;
    for (auto [layer, row] : llvm::zip(layers, rows))
      row.push_back(FloatAttr::get(Float64Type::get(context), layer->constants[i]));
    // The unit's own name has the first layer's number: generalise it as its
    // symbols were.
    auto [unit, slot] = sites[i];
    std::string name = mille::unitName(unit, [&](FlatSymbolRefAttr symbol) {
      auto column = generalise.symbols.find(symbol);
      return column == generalise.symbols.end() ? symbol : column->second;
    });
    generalise.constants.back() = addColumn(name + "." + slot.str());
  }

  Block &block = region.emplaceBlock();
  IRMapping mapping;
  mapping.map(stream, block.addArgument(stream.getType(), stream.getLoc()));
  OpBuilder builder(context); // the region has no parent yet
  builder.setInsertionPointToEnd(&block);
  for (Operation *op : first.ops) {
    Operation *copy = builder.clone(*op, mapping);
    forEachAttribute(copy, [&](Operation *at, StringAttr name, Attribute value) {
      if (isKeepIndex(at, name))
        at->setInherentAttr(name, builder.getI64IntegerAttr(
                                      cast<IntegerAttr>(value).getInt() - position));
      else if (isLayerNumber(at, name))
        cast<ResidualOp>(at).removeLayerAttr();
      else if (Attribute general = generalise(value); general != value)
        at->setInherentAttr(name, general);
    });
  }
  YieldOp::create(builder, first.ops.back()->getLoc(),
                  mapping.lookup(first.ops.back()->getResult(0)));
}

void Roller::roll(Stretch &stretch) {
  SmallVector<Layer> layers = split(stretch);
  std::map<std::vector<uint64_t>, size_t> known;
  SmallVector<SmallVector<Layer *>> bodies;
  SmallVector<int64_t> bodyOf, firstAt;
  Value input = stretch.units.front().getInput(), stream = input;
  for (auto [position, layer] : llvm::enumerate(layers)) {
    Signature signature(layer, position, stream, types);
    auto [at, isNew] =
        known.try_emplace(std::move(signature.words), bodies.size());
    if (isNew) {
      bodies.emplace_back();
      firstAt.push_back(position);
    }
    layer.body = at->second;
    bodies[layer.body].push_back(&layer);
    bodyOf.push_back(layer.body);
    stream = layer.ops.back()->getResult(0);
  }

  ResidualOp lastUnit = stretch.units.back();
  OpBuilder builder(lastUnit);
  SmallVector<std::unique_ptr<Region>> regions;
  SmallVector<Attribute> slots;
  SmallVector<Attribute> table(layers.size());
  for (auto [body, members] : llvm::enumerate(bodies)) {
    SmallVector<Attribute> names;
    SmallVector<SmallVector<Attribute>> rows;
    int64_t at = firstAt[body];
    Value bodyInput = at ? layers[at - 1].ops.back()->getResult(0) : input;
    regions.push_back(std::make_unique<Region>());
    fillBody(*regions.back(), members, at, bodyInput, names, rows);
    slots.push_back(builder.getArrayAttr(names));
    for (auto [layer, row] : llvm::zip(members, rows))
      table[layer - layers.data()] = builder.getArrayAttr(row);
  }
  OperationState state(stretch.units.front().getLoc(),
                       LayersOp::getOperationName());
  LayersOp::build(builder, state, lastUnit.getType(), input,
                  builder.getArrayAttr(slots), bodyOf,
                  builder.getArrayAttr(table), regions.size());
  for (auto [region, filled] : llvm::zip(state.regions, regions))
    region->takeBody(*filled);
  auto rolled = cast<LayersOp>(builder.create(state));

  lastUnit.getResult().replaceAllUsesWith(rolled.getResult());
  for (Layer &layer : llvm::reverse(layers))
    for (Operation *op : llvm::reverse(layer.ops))
      op->erase();
}

struct Roll : mille::impl::RollBase<Roll> {
  void runOnOperation() override {
    Roller roller(getOperation());
    for (auto function : getOperation().getBody().getOps<func::FuncOp>())
      roller.run(function);
  }
};

} // namespace

// Finds layers of equal structure, and makes bodies and a table of them.
// Must not compare names, nor know what a layer computes.
#include "compiler/fuse/LayerShape.h"
#include "compiler/fuse/Passes.h"
#include "dialects/transformer/UnitNames.h"
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
using mille::Generalise;
using mille::Layer;
using mille::wordsOf;

namespace {

// A sequence of units that are connected by the stream only.
struct Stretch {
  SmallVector<ResidualOp> units;
};

class Roller {
public:
  Roller(ModelOp model, bool byEncoding) : model(model) {
    for (auto parameter : model.getBody().getOps<ParameterOp>())
      types.try_emplace(parameter.getSymNameAttr(),
                        read(parameter, byEncoding));
  }

  // Where an op stands between two units of a layer that share a parameter, as
  // a norm does that rotate-norms has moved, no stretch is whole layers.
  void run(func::FuncOp function) {
    SmallVector<Stretch> stretches = findStretches(function.front());
    llvm::DenseMap<Attribute, int> readers;
    for (Stretch &stretch : stretches)
      for (Attribute symbol : sharedInLayers(stretch))
        ++readers[symbol];
    for (Stretch &stretch : stretches)
      if (llvm::none_of(sharedInLayers(stretch), [&](Attribute symbol) {
            return readers.lookup(symbol) > 1;
          }))
        roll(stretch);
  }

private:
  // The type of a parameter, the rows that stay, what matmuls are asked to read
  // it as, and, if that is what is stored, the blocks of what the value is made
  // of.
  static Attribute read(ParameterOp parameter, bool byEncoding) {
    SmallVector<Attribute> parts{parameter.getTypeAttr()};
    if (Attribute fixed = parameter.getFixedRowsAttr())
      parts.push_back(fixed);
    if (StringAttr dtype = parameter.getDtypeAttr()) {
      parts.push_back(dtype);
      byEncoding = dtype == "stored";
    }
    if (byEncoding)
      parameter.getValue().walk([&](StoredAttr stored) {
        parts.push_back(
            EncodingAttr::get(parameter.getContext(), stored.getEncoding()));
      });
    return ArrayAttr::get(parameter.getContext(), parts);
  }

  // The parameters that the units of a layer have in common.
  static llvm::SetVector<Attribute> sharedInLayers(const Stretch &stretch) {
    llvm::SetVector<Attribute> symbols;
    for (ResidualOp unit : stretch.units)
      unit->getAttrDictionary().walk([&](ScaleAttr scale) {
        if (scale.getSymbol() && scale.getShare() == Share::layer)
          symbols.insert(scale.getSymbol());
      });
    return symbols;
  }

  SmallVector<Stretch> findStretches(Block &block);
  void roll(Stretch &stretch);
  std::vector<Layer> split(Stretch &stretch);
  void fillBody(Region &region, ArrayRef<Layer *> layers, int64_t position,
                Value stream, SmallVectorImpl<Attribute> &slots,
                SmallVectorImpl<SmallVector<Attribute>> &rows);

  ModelOp model;
  llvm::DenseMap<StringAttr, Attribute> types;
};

// A unit continues a sequence when it reads the last unit's result, and no
// other op reads that result, except keeps at the same level.
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

// Units with the same `layer` are one layer; a unit without it is a layer of
// its own. Keeps of a unit's input belong to the unit.
std::vector<Layer> Roller::split(Stretch &stretch) {
  std::vector<Layer> layers;
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
  for (size_t i = 0; i < first.numbers.size(); ++i) {
    generalise.numbers.emplace_back();
    if (llvm::all_of(layers, [&](Layer *layer) {
          return F64(layer->numbers[i]) == F64(first.numbers[i]);
        }))
      continue;
    for (auto [layer, row] : llvm::zip(layers, rows))
      row.push_back(
          FloatAttr::get(Float64Type::get(context), layer->numbers[i]));
    // The unit's name holds the first layer's number: generalise it like its
    // symbols.
    auto [holder, slot] = first.sites[i];
    Operation *unit = holder;
    while (!isa<ResidualOp>(unit) && isa<ResidualOp>(unit->getParentOp()))
      unit = unit->getParentOp();
    std::string name = mille::unitName(unit, [&](FlatSymbolRefAttr symbol) {
      auto column = generalise.symbols.find(symbol);
      return column == generalise.symbols.end() ? symbol : column->second;
    });
    generalise.numbers.back() = addColumn(name + "." + slot.str());
  }

  Block &block = region.emplaceBlock();
  IRMapping mapping;
  mapping.map(stream, block.addArgument(stream.getType(), stream.getLoc()));
  OpBuilder builder(context); // the region has no parent yet
  builder.setInsertionPointToEnd(&block);
  for (Operation *op : first.ops)
    generalise(builder.clone(*op, mapping), position);
  YieldOp::create(builder, first.ops.back()->getLoc(),
                  mapping.lookup(first.ops.back()->getResult(0)));
}

void Roller::roll(Stretch &stretch) {
  std::vector<Layer> layers = split(stretch);
  std::map<std::vector<uint64_t>, size_t> known;
  SmallVector<SmallVector<Layer *>> bodies;
  SmallVector<int64_t> bodyOf, firstAt;
  Value input = stretch.units.front().getInput(), stream = input;
  for (auto [position, layer] : llvm::enumerate(layers)) {
    auto [at, isNew] = known.try_emplace(
        wordsOf(layer, position, stream, types), bodies.size());
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
                  builder.getArrayAttr(table), ArrayAttr(), /*reverse=*/false,
                  regions.size());
  for (auto [region, filled] : llvm::zip(state.regions, regions))
    region->takeBody(*filled);
  auto rolled = cast<LayersOp>(builder.create(state));

  if (bodies.size() > 1) {
    SmallVector<Attribute> differences;
    for (ArrayRef<Layer *> members : ArrayRef(bodies).drop_front())
      differences.push_back(builder.getStringAttr(
          mille::firstDifference(*bodies[0][0], *members[0])));
    rolled->setAttr("differences", builder.getArrayAttr(differences));
  }
  lastUnit.getResult().replaceAllUsesWith(rolled.getResult());
  for (Layer &layer : llvm::reverse(layers))
    for (Operation *op : llvm::reverse(layer.ops))
      op->erase();
}

struct Roll : mille::impl::RollBase<Roll> {
  using RollBase::RollBase;
  void runOnOperation() override {
    Roller roller(getOperation(), byEncoding);
    for (auto function : getOperation().getBody().getOps<func::FuncOp>())
      roller.run(function);
  }
};

} // namespace

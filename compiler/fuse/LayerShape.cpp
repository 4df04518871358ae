// Finds what equal layers share, from their ops and attributes in general.
// Must not list ops, so that symbols and scales of a new op need no code.
#include "compiler/fuse/LayerShape.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

namespace {

bool isLayerNumber(Operation *op, StringAttr name) {
  return isa<ResidualOp>(op) && name == "layer";
}
// The number of an entry of an output or a state: it advances with the layer.
bool isEntryIndex(Operation *op, StringAttr name) {
  auto linear = dyn_cast<LinearAttendOp>(op);
  return name == "index" && (isa<KeepOp, RememberOp, RecallOp>(op) ||
                             (linear && linear.getState()));
}
// A number of an attention that a column may multiply.
bool isColumnScale(Operation *op, StringAttr name) {
  auto attend = dyn_cast<AttendOp>(op);
  return attend && name == "scale" && !attend.getLayerScaleAttr();
}
// The number it holds is another layer's column, if that has one.
bool isPlainConstant(ScaleAttr scale) {
  return scale.getKind() == ScaleKind::constant && !scale.getSymbol();
}

bool hasSymbols(Attribute attribute) {
  return attribute &&
         attribute
             .walk([](FlatSymbolRefAttr) { return WalkResult::interrupt(); })
             .wasInterrupted();
}

class Words {
public:
  Words(Layer &layer, int64_t position, Value stream,
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
    words.push_back(op->getNumOperands());
    for (Value operand : op->getOperands()) {
      auto known = values.find(operand);
      words.push_back(known == values.end() ? outside : local);
      if (known == values.end())
        word(operand.getAsOpaquePointer());
      else
        words.push_back(known->second);
    }
    for (StringAttr name : op->getName().getAttributeNames())
      add(op, name, op->getInherentAttr(name).value_or(Attribute()));
    word(op->getDiscardableAttrDictionary().getAsOpaquePointer());
    for (Value result : op->getResults()) {
      word(result.getType().getAsOpaquePointer());
      number(result);
    }
    for (Region &inside : op->getRegions())
      add(inside);
  }

  void add(Region &inside) {
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

  void add(Operation *op, StringAttr name, Attribute attribute) {
    if (isLayerNumber(op, name))
      return;
    if (isEntryIndex(op, name))
      words.push_back(cast<IntegerAttr>(attribute).getInt() - position);
    else if (isColumnScale(op, name))
      addNumber(op, name, cast<FloatAttr>(attribute).getValueAsDouble());
    else
      addAttribute(op, name, attribute);
  }

  void addNumber(Operation *op, StringAttr name, double value) {
    words.push_back(constant);
    layer.numbers.push_back(value);
    layer.sites.emplace_back(op, name.getValue());
  }

  void addAttribute(Operation *op, StringAttr name, Attribute attribute) {
    if (auto array = dyn_cast_or_null<ArrayAttr>(attribute)) {
      words.push_back(list);
      words.push_back(array.size());
      for (Attribute element : array)
        addAttribute(op, name, element);
      return;
    }
    auto scale = dyn_cast_or_null<ScaleAttr>(attribute);
    if (scale && isPlainConstant(scale))
      return addNumber(op, name, scale.getValue());
    if (!hasSymbols(attribute))
      return word(attribute.getAsOpaquePointer());
    Attribute shape = transformer::replaceSymbols(
        attribute,
        [&](FlatSymbolRefAttr reference) { return numbered(reference); });
    word(shape.getAsOpaquePointer());
  }

  // The fourth symbol of a layer becomes @"#3".
  Attribute numbered(FlatSymbolRefAttr reference) {
    auto [at, isNew] = symbols.try_emplace(reference, symbols.size());
    if (isNew) {
      layer.symbols.push_back(reference);
      words.push_back(symbol);
      word(types.lookup(reference.getAttr()).getAsOpaquePointer());
    }
    return FlatSymbolRefAttr::get(reference.getContext(),
                                  "#" + std::to_string(at->second));
  }

  Layer &layer;
  int64_t position;
  const llvm::DenseMap<StringAttr, Attribute> &types;
  llvm::DenseMap<Value, uint64_t> values;
  llvm::DenseMap<Attribute, uint64_t> symbols;
};

} // namespace

std::vector<uint64_t>
mille::wordsOf(Layer &layer, int64_t position, Value stream,
               const llvm::DenseMap<StringAttr, Attribute> &types) {
  return Words(layer, position, stream, types).words;
}

//===-- what differs ------------------------------------------------------===//

namespace {

// An attribute in words, without the names of parameters.
std::string text(Operation *op, StringAttr name, Attribute attribute) {
  if (isLayerNumber(op, name) || isEntryIndex(op, name) ||
      isColumnScale(op, name))
    return "";
  if (!attribute)
    return "absent";
  attribute =
      transformer::replaceSymbols(attribute, [](FlatSymbolRefAttr reference) {
        return FlatSymbolRefAttr::get(reference.getContext(), "_");
      });
  std::string words;
  llvm::raw_string_ostream out(words);
  if (auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute)) {
    out << "[";
    llvm::interleaveComma(numbers.asArrayRef(), out);
    out << "]";
  } else {
    attribute.print(out, /*elideType=*/true);
  }
  return words.size() > 120 ? words.substr(0, 120) + "..." : words;
}

void flatten(Operation *op, SmallVectorImpl<Operation *> &ops) {
  op->walk<WalkOrder::PreOrder>(
      [&](Operation *inner) { ops.push_back(inner); });
}

} // namespace

std::string mille::firstDifference(const Layer &first, const Layer &other) {
  SmallVector<Operation *> left, right;
  for (Operation *op : first.ops)
    flatten(op, left);
  for (Operation *op : other.ops)
    flatten(op, right);
  auto nameOf = [](Operation *op) {
    return op->getName().stripDialect().str();
  };
  for (auto [a, b] : llvm::zip(left, right)) {
    if (a->getName() != b->getName())
      return "has " + nameOf(b) + " where body 0 has " + nameOf(a);
    for (StringAttr name : a->getName().getAttributeNames()) {
      std::string one = text(a, name,
                             a->getInherentAttr(name).value_or(Attribute())),
                  two = text(b, name,
                             b->getInherentAttr(name).value_or(Attribute()));
      if (one != two)
        return (name.getValue() + " of " + nameOf(b) + " is " + two +
                ", in body 0 " + one)
            .str();
    }
    if (a->getResultTypes() != b->getResultTypes() ||
        a->getNumOperands() != b->getNumOperands())
      return nameOf(b) + " has other sizes than in body 0";
  }
  if (left.size() != right.size())
    return "has " + std::to_string(right.size()) + " ops, body 0 " +
           std::to_string(left.size());
  return "reads other values, or its parameters are of other sizes or blocks, "
         "or shared otherwise, than in body 0";
}

//===-- generalise --------------------------------------------------------===//

FlatSymbolRefAttr Generalise::renamed(FlatSymbolRefAttr reference) {
  auto found = symbols.find(reference);
  return found == symbols.end() ? reference : found->second;
}

Attribute Generalise::general(Attribute attribute) {
  if (auto array = dyn_cast_or_null<ArrayAttr>(attribute)) {
    SmallVector<Attribute> elements;
    for (Attribute element : array)
      elements.push_back(general(element));
    return ArrayAttr::get(array.getContext(), elements);
  }
  if (auto scale = dyn_cast_or_null<ScaleAttr>(attribute);
      scale && isPlainConstant(scale)) {
    FlatSymbolRefAttr column = numbers[next++];
    return !column ? scale
                   : ScaleAttr::get(scale.getContext(), scale.getKind(),
                                    F64(1.0), StringAttr(), column,
                                    scale.getShare(), scale.getFrom(),
                                    scale.getTo(), scale.getSteps());
  }
  if (!hasSymbols(attribute))
    return attribute;
  return transformer::replaceSymbols(
      attribute,
      [&](FlatSymbolRefAttr reference) { return renamed(reference); });
}

void Generalise::operator()(Operation *op, int64_t position) {
  Builder builder(op->getContext());
  for (StringAttr name : op->getName().getAttributeNames()) {
    Attribute value = op->getInherentAttr(name).value_or(Attribute());
    if (isLayerNumber(op, name)) {
      cast<ResidualOp>(op).removeLayerAttr();
    } else if (isEntryIndex(op, name)) {
      op->setInherentAttr(name,
                          builder.getI64IntegerAttr(
                              cast<IntegerAttr>(value).getInt() - position));
    } else if (isColumnScale(op, name)) {
      if (FlatSymbolRefAttr column = numbers[next++]) {
        op->setInherentAttr(name, builder.getF64FloatAttr(1));
        cast<AttendOp>(op).setLayerScaleAttr(column);
      }
    } else if (Attribute instead = general(value); instead != value) {
      op->setInherentAttr(name, instead);
    }
  }
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        (*this)(&inner, position);
}

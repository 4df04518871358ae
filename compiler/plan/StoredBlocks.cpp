// Follows a weight's expression, and its symbols in each layer, to the tensors
// that it is made of. Must not evaluate it.
#include "compiler/plan/StoredBlocks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mille;
using namespace mille::plan;
using namespace mille::transformer;

namespace {

class Find {
public:
  explicit Find(Operation *at) : at(at) {}

  void operator()(Attribute value) {
    llvm::TypeSwitch<Attribute>(value)
        .Case([&](FlatSymbolRefAttr name) { symbol(name); })
        .Case([&](StoredAttr stored) { add(stored.getEncoding()); })
        // Rows elsewhere are the same rows.
        .Case<GatherAttr, RepeatAttr, ReshapeAttr, PermuteAttr>(
            [&](auto moved) { (*this)(moved.getValue()); })
        .Case<ConcatAttr, StackAttr>([&](auto several) {
          for (Attribute part : several.getValues())
            (*this)(part);
        })
        .Case([&](SliceAttr slice) {
          isComputed |= slice.getAxis() != 0;
          (*this)(slice.getValue());
        })
        .Case<TransposeAttr, TimesAttr, PlusAttr, ApplyAttr>([&](auto other) {
          isComputed = true;
          (*this)(other.getValue());
        })
        .Default([&](Attribute) { add(Encoding::f32); });
  }

  StoredBlocks result() const {
    if (plain)
      return {std::nullopt, "its weight is stored in no blocks"};
    if (!unread.empty())
      return {Encoding::q8_0, "no kernel reads blocks of " + unread};
    if (isComputed)
      return {Encoding::q8_0, "it is computed of what is stored"};
    if (found.size() == 1)
      return {found.front(), ""};
    // Levels of each are levels of those after it.
    for (Encoding one : {Encoding::q5_0, Encoding::q8_0})
      if (llvm::all_of(found, [&](Encoding other) {
            const BlockForm form = blockFormOf(other);
            return !form.sharesSteps() && !form.hasLeast &&
                   form.bits <= blockFormOf(one).bits;
          }))
        return {one, ""};
    return {Encoding::q8_0, "it is stored in blocks of " + names()};
  }

private:
  void add(Encoding encoding) {
    plain |= !isBlocks(encoding);
    if (encoding == Encoding::iq4_nl) // levels from -127 to 113
      encoding = Encoding::q8_0;
    if (isBlocks(encoding) && !isMultiplied(encoding) && unread.empty())
      unread = stringifyEncoding(encoding).str();
    found.insert(encoding);
  }

  std::string names() const {
    std::string text;
    for (Encoding encoding : found)
      text += (text.empty() ? "" : " and ") + stringifyEncoding(encoding).str();
    return text;
  }

  // A column of the layer table has a value for each layer.
  void symbol(FlatSymbolRefAttr name) {
    Operation *inner = at;
    if (auto layers = at->getParentOfType<kernel::LayersOp>()) {
      while (inner->getParentOp() != layers)
        inner = inner->getParentOp();
      if (column(layers, inner->getParentRegion()->getRegionNumber(), name))
        return;
    }
    auto model = at->getParentOfType<ModelOp>();
    ParameterOp found;
    if (model)
      for (auto parameter : model->getRegion(0).front().getOps<ParameterOp>())
        if (parameter.getSymName() == name.getValue())
          found = parameter;
    found ? (*this)(found.getValue()) : add(Encoding::f32);
  }

  bool column(kernel::LayersOp layers, int64_t body, FlatSymbolRefAttr name) {
    if (!layers.columnNamed(body, name.getAttr()))
      return false;
    for (size_t layer : layers.layersOf(body))
      Find::ofLayer(layers, layers.entryOf(layer, name), *this);
    return true;
  }

  static void ofLayer(Operation *layers, Attribute value, Find &find) {
    Operation *inner = std::exchange(find.at, layers);
    find(value);
    find.at = inner;
  }

  Operation *at;
  llvm::SmallSetVector<Encoding, 4> found;
  bool plain = false, isComputed = false;
  std::string unread; // the first that no kernel reads
};

} // namespace

StoredBlocks mille::plan::storedBlocks(kernel::WeightOp weight) {
  Find find(weight);
  find(weight.getValue());
  return find.result();
}

StoredBlocks mille::plan::wholeBlocks(Encoding wished, Type input) {
  const int64_t inner = cast<ShapedType>(input).getDimSize(1),
                length = blockLength(wished);
  if (inner % length == 0)
    return {wished, ""};
  const Encoding shorter = wished == Encoding::q4_k   ? Encoding::q4_1
                           : wished == Encoding::q5_k ? Encoding::q5_1
                                                      : Encoding::q8_0;
  return {shorter, "its rows of " + std::to_string(inner) +
                       " numbers are no whole blocks of " +
                       std::to_string(length)};
}

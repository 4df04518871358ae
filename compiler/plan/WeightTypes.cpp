// Decides the type in which each matmul reads its weight, from what is asked
// for and, for `stored`, from the tensors that the weight is made of in each
// layer.
// Must not evaluate a weight.
#include "compiler/plan/WeightTypes.h"
#include "dialects/transformer/UnevenLevels.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mille;
using namespace mille::plan;
using namespace mille::transformer;

namespace {

// What devices copy begins at multiples of so many bytes.
constexpr int64_t deviceRow = 16;
constexpr int64_t mostBytesSummed = 65536; // largest K of a matmul of bytes

// Follows a weight's expression, and its symbols in each layer, to parameters
// and stored tensors.
class Find {
public:
  Find(Operation *at, SymbolTableCollection &tables) : at(at), tables(tables) {}

  void operator()(Attribute value) {
    llvm::TypeSwitch<Attribute>(value)
        .Case([&](FlatSymbolRefAttr name) { symbol(name); })
        .Case([&](StoredAttr stored) {
          isBf16 &= stored.getType().getElementType().isBF16();
          add(stored.getEncoding());
        })
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
        .Default([&](Attribute) { addNumbers(); });
  }

  // What parameters name, the most exact first; empty for those that name
  // nothing.
  SmallVector<StringRef> asked() const {
    SmallVector<StringRef> sorted(names.begin(), names.end());
    llvm::sort(sorted, [](StringRef a, StringRef b) {
      return llvm::find(dtypeNames(), a) < llvm::find(dtypeNames(), b);
    });
    return sorted;
  }

  // The smallest blocks that kernels read and that hold the stored numbers.
  WeightType stored() const {
    if (plain)
      return {{Dtype::f32}, "its weight is stored in no blocks"};
    if (!unread.empty())
      return blocks(Encoding::q8_0, "no kernel reads blocks of " + unread);
    if (isComputed)
      return blocks(Encoding::q8_0, "it is computed of what is stored");
    if (found.size() == 1)
      return blocks(found.front(), "");
    // Levels of each are levels of those after it; uneven ones of 8 bits.
    for (Encoding one : {Encoding::q5_0, Encoding::q8_0})
      if (llvm::all_of(found, [&](Encoding other) {
            const BlockForm form = blockFormOf(other);
            const UnevenLevels uneven = unevenLevelsOf(form);
            return !form.sharesSteps() && !form.hasLeast && !uneven.hasPowers &&
                   (uneven ? 8 : form.bits) <= blockFormOf(one).bits;
          }))
        return blocks(one, "");
    return blocks(Encoding::q8_0, "it is stored in blocks of " + encodings());
  }

  // Whether the numbers are those of a file, in bf16.
  bool areBf16() const { return isBf16 && !isComputed; }

private:
  static WeightType blocks(Encoding encoding, std::string why) {
    return {{Dtype::blocks, encoding}, std::move(why)};
  }

  void addNumbers() { // of f32
    isBf16 = false;
    add(Encoding::f32);
  }

  void add(Encoding encoding) {
    plain |= !isBlocks(encoding);
    if (isBlocks(encoding) && !isMultiplied(encoding) && unread.empty())
      unread = stringifyEncoding(encoding).str();
    found.insert(encoding);
  }

  std::string encodings() const {
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
    ParameterOp found;
    if (auto model = at->getParentOfType<ModelOp>())
      found = tables.lookupSymbolIn<ParameterOp>(model, name.getAttr());
    names.insert(found ? found.getDtype().value_or("") : "");
    found ? (*this)(found.getValue()) : addNumbers();
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
  SymbolTableCollection &tables;
  llvm::SmallSetVector<Encoding, 4> found;
  llvm::SmallSetVector<StringRef, 4> names;
  bool plain = false, isComputed = false, isBf16 = true;
  std::string unread; // the first that no kernel reads
};

// `wished`, or shorter blocks with at least as many bits where a row of `inner`
// numbers is not a whole number of its blocks.
WeightType wholeBlocks(Encoding wished, int64_t inner) {
  const int64_t length = blockLength(wished);
  if (inner % length == 0)
    return {{Dtype::blocks, wished}, ""};
  const Encoding shorter = wished == Encoding::q4_k     ? Encoding::q4_1
                           : wished == Encoding::q5_k   ? Encoding::q5_1
                           : wished == Encoding::iq4_xs ? Encoding::iq4_nl
                                                        : Encoding::q8_0;
  return {{Dtype::blocks, shorter},
          "its rows of " + std::to_string(inner) +
              " numbers are no whole blocks of " + std::to_string(length)};
}

// The type for one wish.
WeightType typeFor(Dtype wish, const Find &found, int64_t inner) {
  if (wish.isOfBlocks() && inner % inputBlock)
    return {{Dtype::f32},
            llvm::formatv("its rows of {0} numbers are no whole blocks of {1}",
                          inner, inputBlock)};
  if (wish.kind == Dtype::stored)
    return found.stored();
  if (wish.kind == Dtype::blocks)
    return wholeBlocks(wish.encoding, inner);
  if (wish.kind == Dtype::int8 && inner > mostBytesSummed)
    return {{Dtype::f32},
            llvm::formatv("sums of {0} products do not fit in 32 bits", inner)};
  if (wish.kind == Dtype::fp8 && inner % deviceRow)
    return {{Dtype::bf16},
            llvm::formatv("its rows of {0} bytes are no multiples of {1}",
                          inner, deviceRow)};
  return {wish, ""};
}

} // namespace

WeightType mille::plan::weightTypeOf(kernel::MatmulOp op, Dtype usual,
                                     SymbolTableCollection &tables) {
  auto weight = op.getWeight().getDefiningOp<kernel::WeightOp>();
  if (!weight)
    return {{Dtype::f32},
            usual.kind == Dtype::f32 ? "" : "its weight is no parameter"};
  const int64_t inner = cast<ShapedType>(op.getInput().getType()).getDimSize(1);
  Find find(weight, tables);
  find(weight.getValue());
  std::optional<WeightType> finest;
  SmallVector<StringRef> names;
  for (StringRef name : find.asked()) {
    const Dtype wish = name.empty() ? usual : *dtypeNamed(name);
    WeightType type = typeFor(wish, find, inner);
    names.push_back(nameOf(wish));
    if (!finest || isMoreExact(type.dtype, finest->dtype))
      finest = std::move(type);
  }
  if (!finest)
    return typeFor(usual, find, inner);
  if (finest->why.empty() &&
      llvm::SmallSetVector<StringRef, 4>(names.begin(), names.end()).size() > 1)
    finest->why = "parts of it are to be " + llvm::join(names, " and ");
  return *finest;
}

bool mille::plan::isStoredInBf16(kernel::WeightOp weight,
                                 SymbolTableCollection &tables) {
  Find find(weight, tables);
  find(weight.getValue());
  return find.areBf16();
}

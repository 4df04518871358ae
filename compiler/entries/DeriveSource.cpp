// Derives `source`, which encodes and remembers the keys and values that the
// decoder's layers make of the encoder's output, and lets the decoder recall
// them. Both go over the layers in one order, so that they name the same
// states. Must not change ops that read the decoder's own tokens.
#include "compiler/entries/DeriveSource.h"
#include "compiler/entries/Slice.h"
#include "dialects/kernel/Signature.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mille;
using namespace mille::entries;
using namespace mille::transformer;

namespace {

// Panels of a state have so many rows.
constexpr int64_t panelRows = 16;

// The rows of states that hold something of each of its tokens.
ShapeExtent rowsFor(Value source) {
  int64_t tokens = cast<RankedTensorType>(source.getType()).getDimSize(1);
  return ShapedType::isDynamic(tokens)
             ? ShapeExtent(sizes::source)
             : ShapeExtent(int64_t(llvm::alignTo(tokens, panelRows)));
}

SmallVector<AttendOp> attentionsOf(func::FuncOp entry, Value source) {
  SmallVector<AttendOp> found;
  entry.walk([&](AttendOp attend) {
    if (readsSource(attend, source))
      found.push_back(attend);
  });
  return found;
}

// The layers that attend to the source: an encoder may have fewer.
int64_t layersOfAttentions(func::FuncOp entry, Value source) {
  int64_t layers = 1;
  for (AttendOp attend : attentionsOf(entry, source))
    layers = std::max(layers, layerOf(attend.getResult()).value_or(0) + 1);
  return layers;
}

// An input of the entry with the name of `input`, which is another entry's.
BlockArgument inputLike(func::FuncOp entry, BlockArgument input) {
  auto from = cast<func::FuncOp>(input.getOwner()->getParentOp());
  for (BlockArgument argument : entry.getArguments())
    if (inputName(entry, argument.getArgNumber()) ==
        inputName(from, input.getArgNumber()))
      return argument;
  unsigned number = entry.getNumArguments();
  (void)entry.insertArgument(number, input.getType(),
                             from.getArgAttrDict(input.getArgNumber()),
                             entry.getLoc());
  return entry.getArgument(number);
}

// The entry of a state as what is remembered in it, or recalled.
RankedTensorType entryType(BlockArgument state) {
  auto type = cast<RankedTensorType>(state.getType());
  const bool ids = type.getElementType().isInteger();
  return RankedTensorType::get(type.getShape().slice(1, ids ? 2 : 3),
                               type.getElementType());
}

class Remember {
public:
  Remember(func::FuncOp forward, func::FuncOp entry, Value source, Value own)
      : forward(forward), entry(entry), source(source),
        states(entry, layersOfAttentions(forward, source)),
        builder(entry.getContext()) {
    made.map(source, own);
    builder.setInsertionPoint(entry.front().getTerminator());
  }

  void run() {
    for (AttendOp attend : attentionsOf(forward, source)) {
      auto layer = layerOf(attend.getResult());
      remember("source_keys", made.lookup(copied(attend.getKey())), layer);
      remember("source_values", made.lookup(copied(attend.getValue())), layer);
      auto mask = dyn_cast_if_present<BlockArgument>(attend.getKeyMask());
      if (mask && !made.contains(mask)) {
        made.map(mask, inputLike(entry, mask));
        remember("source_mask", made.lookup(mask), std::nullopt);
      }
    }
  }

private:
  // Clones what computes a value of the source.
  Value copied(Value value) {
    if (made.contains(value))
      return value;
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      copied(operand);
    builder.clone(*op, made);
    return value;
  }

  void remember(StringRef role, Value value, std::optional<int64_t> layer) {
    auto type = cast<RankedTensorType>(value.getType());
    const bool ids = type.getElementType().isInteger();
    BlockArgument state =
        states.stateFor(role, type.getElementType(), rowsFor(source),
                        ids ? 1 : type.getShape().back(), layer);
    RememberOp::create(builder, value.getLoc(), entryType(state), value, state,
                       builder.getI64IntegerAttr(layer.value_or(0)), Value());
  }

  func::FuncOp forward, entry;
  Value source;
  EntryStates states;
  OpBuilder builder;
  IRMapping made;
};

class Recall {
public:
  Recall(func::FuncOp entry, BlockArgument source)
      : entry(entry), source(source),
        states(entry, layersOfAttentions(entry, source)),
        builder(entry.getContext()) {}

  void run() {
    const ShapeExtent rows = rowsFor(source);
    BlockArgument counts = states.addCounts(kernel::sourceTokensName);
    if (!rows.isSize()) // the model fixes how many there are
      entry.setArgAttr(counts.getArgNumber(), "transformer.below",
                       builder.getI64IntegerAttr(tokensOf(source) + 1));
    for (AttendOp attend : attentionsOf(entry, source)) {
      auto layer = layerOf(attend.getResult());
      builder.setInsertionPoint(attend);
      Value old[] = {attend.getKey(), attend.getValue()};
      attend.getKeyMutable().assign(recall("source_keys", old[0], layer));
      attend.getValueMutable().assign(recall("source_values", old[1], layer));
      attend.getPastMutable().assign(counts);
      if (Value mask = attend.getKeyMask())
        attend.getKeyMaskMutable().assign(recalledMask(mask));
      for (Value value : old)
        eraseUnused(value);
    }
    for (int64_t i = entry.getNumArguments() - 1; i >= 0; --i)
      if (entry.getArgument(i).use_empty() && isOfSource(i))
        (void)entry.eraseArgument(i);
    renameTokens();
  }

private:
  static int64_t tokensOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getDimSize(1);
  }

  Value recall(StringRef role, Value like, std::optional<int64_t> layer) {
    auto type = cast<RankedTensorType>(like.getType());
    const bool ids = type.getElementType().isInteger();
    BlockArgument state =
        states.stateFor(role, type.getElementType(), rowsFor(source),
                        ids ? 1 : type.getShape().back(), layer);
    return RecallOp::create(builder, like.getLoc(), entryType(state), state,
                            builder.getI64IntegerAttr(layer.value_or(0)));
  }

  // The mask is the same in all layers, so it is recalled before them.
  Value recalledMask(Value mask) {
    Value &known = masks[mask];
    if (!known) {
      builder.setInsertionPointToStart(&entry.front());
      known = recall("source_mask", mask, std::nullopt);
      ofSource.push_back(
          inputName(entry, cast<BlockArgument>(mask).getArgNumber()).str());
    }
    return known;
  }

  void eraseUnused(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !op->use_empty())
      return;
    SmallVector<Value> operands(op->getOperands());
    op->erase();
    for (Value operand : operands)
      eraseUnused(operand);
  }

  bool isOfSource(unsigned number) {
    return entry.getArgument(number) == source ||
           llvm::is_contained(ofSource, inputName(entry, number));
  }

  // The decoder's tokens are now the only ones of a run.
  void renameTokens() {
    auto renamed = [&](Attribute given) -> Attribute {
      auto shape = dyn_cast_or_null<ShapeAttr>(given);
      if (!shape)
        return {};
      Shape extents = shape.getShape();
      for (ShapeExtent &extent : extents)
        if (extent.isSize() && extent.size == sizes::decoderTokens)
          extent = ShapeExtent(sizes::tokens);
      return ShapeAttr::get(entry.getContext(), extents);
    };
    for (unsigned i = 0; i < entry.getNumArguments(); ++i)
      if (auto shape = renamed(entry.getArgAttr(i, "transformer.shape")))
        entry.setArgAttr(i, "transformer.shape", shape);
    for (unsigned i = 0; i < entry.getNumResults(); ++i)
      if (auto shape = renamed(entry.getResultAttr(i, "transformer.shape")))
        entry.setResultAttr(i, "transformer.shape", shape);
  }

  func::FuncOp entry;
  BlockArgument source;
  EntryStates states;
  OpBuilder builder;
  DenseMap<Value, Value> masks;
  SmallVector<std::string> ofSource; // names of inputs
};

} // namespace

bool mille::entries::readsSource(AttendOp attend, Value source) {
  for (Value value : {attend.getKey(), attend.getValue()}) {
    if (value == source)
      continue;
    Needs needs = needsOf(value, source);
    if (needs.ops.empty() || !needs.arguments.empty())
      return false;
  }
  return true;
}

std::string mille::entries::whyNotSource(AttendOp attend, Value source) {
  for (Value value : {attend.getKey(), attend.getValue()})
    for (Operation *op : needsOf(value, source).ops)
      if (op->getNumRegions())
        return "keys or values of the encoder's output take layers of their "
               "own";
  if (attend.getMask() == Mask::causal || !attend.getBiases().empty() ||
      attend.getSegments() || attend.getWindow() || attend.getChunk())
    return "an attention to the encoder's output compares places of tokens";
  Value mask = attend.getKeyMask();
  if (mask && !isa<BlockArgument>(mask))
    return "the mask of the encoder's output is computed";
  return "";
}

func::FuncOp mille::entries::deriveSource(func::FuncOp forward,
                                          const EntryPart &encode,
                                          unsigned cut) {
  func::FuncOp entry = makeSlice(forward, sourceName, encode.outputs);
  unsigned own = llvm::find(encode.outputs, cut) - encode.outputs.begin();
  Value source = outputValue(forward, cut);
  Remember(forward, entry, source, outputValue(entry, own)).run();
  auto model = forward->getParentOfType<ModelOp>();
  auto most = model->getAttrOfType<IntegerAttr>("max_tokens");
  if (most && rowsFor(source).isSize())
    model->setAttr(("max_" + sizes::source).str(), most);
  return entry;
}

void mille::entries::recallSource(func::FuncOp decoder, BlockArgument source) {
  Recall(decoder, source).run();
}

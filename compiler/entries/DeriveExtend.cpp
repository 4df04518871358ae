// Derives `extend` from `forward`: an op that reads other tokens of a sequence
// reads them from a state. Must not change ops that compute each token by
// itself.
#include "compiler/entries/DeriveExtend.h"
#include "compiler/entries/AttendLatent.h"
#include "compiler/entries/DeriveSource.h"
#include "compiler/entries/KeepLastTokens.h"
#include "dialects/kernel/Signature.h"

using namespace mlir;
using namespace mille;
using namespace mille::entries;
using namespace mille::transformer;

namespace {

bool hasTokens(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() >= 2 && type.isDynamicDim(1);
}

// What an encoder gives that the decoder reads; null without an encoder.
Value sourceOf(func::FuncOp forward, const EntryPart &decoder) {
  return decoder.cut < 0 ? Value() : outputValue(forward, decoder.cut);
}

Needs needsBeside(Value output, Value source) {
  return source ? needsOf(output, source) : needsOf(output);
}

// The decoder's outputs that have a row for each token; a pooled one is for a
// whole sequence.
SmallVector<unsigned> outputsOfTokens(func::FuncOp forward,
                                      const EntryPart &decoder) {
  SmallVector<unsigned> outputs;
  for (unsigned i : decoder.outputs) {
    Value output = outputValue(forward, i);
    Needs needs = needsBeside(output, sourceOf(forward, decoder));
    bool pools =
        llvm::any_of(needs.ops, [](Operation *op) { return isa<PoolOp>(op); });
    if (hasTokens(output) && !pools)
      outputs.push_back(i);
  }
  return outputs;
}

// The reason why an op cannot read earlier tokens from a state; empty if it
// can.
std::string whyNot(Operation *op, Value source) {
  if (auto attend = dyn_cast<AttendOp>(op)) {
    if (source && readsSource(attend, source))
      return whyNotSource(attend, source);
    if (attend.getMask() != Mask::causal)
      return "an attention sees later tokens";
    if (attend.getPrefix() || attend.getSequences() != 1 ||
        attend.getSequenceTokens())
      return "an attention has a prefix, or several sequences";
    for (Value bias : attend.getBiases())
      if (!bias.getDefiningOp<PositionBiasOp>() &&
          !bias.getDefiningOp<DistanceBiasOp>() &&
          !bias.getDefiningOp<KeyHeadBiasOp>())
        return "an attention has a bias of pairs of tokens";
  }
  if (isa<GatherTokensOp, PatchesOp, PatchTableOp, PatchRotationOp,
          MovePatchesOp, WindowSegmentsOp, SimilarityOp, ConstantOp,
          TokenNumbersOp>(op))
    return (op->getName().stripDialect() + " is over all tokens").str();
  return "";
}

class Extend {
public:
  explicit Extend(func::FuncOp entry)
      : entry(entry), builder(entry.getContext()),
        states(entry, layersOf(entry)) {}

  // source: the name of the input that an encoder gives, or "".
  void run(StringRef source) {
    for (BlockArgument argument : entry.getArguments())
      if (!source.empty() &&
          inputName(entry, argument.getArgNumber()) == source) {
        recallSource(entry, argument);
        break;
      }
    past = states.addCounts(kernel::pastName);
    entry.setArgAttr(past.getArgNumber(), "transformer.default",
                     builder.getStringAttr("zeros"));
    goOnFromPast();
    hoistIds();
    SmallVector<Operation *> ops;
    entry.walk([&](Operation *op) {
      if (isa<AttendOp, LinearAttendOp, CountTokensOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto attend = dyn_cast<AttendOp>(op); attend && attend.getPast())
        continue; // to an encoder's tokens
      else if (attend)
        extend(attend);
      else if (auto linear = dyn_cast<LinearAttendOp>(op))
        extend(linear);
      else
        extend(cast<CountTokensOp>(op));
    }
    dropUnused();
  }

private:
  // Positions that the application does not give are computed from `past`.
  void goOnFromPast() {
    for (int64_t i = entry.getNumArguments() - 1; i >= 0; --i) {
      auto word = entry.getArgAttrOfType<StringAttr>(i, "transformer.default");
      if (!word || word.getValue() != "positions")
        continue;
      BlockArgument given = entry.getArgument(i);
      Value like = firstOfTokens(given);
      builder.setInsertionPointToStart(&entry.front());
      Value positions = PositionsOp::create(builder, entry.getLoc(),
                                            given.getType(), past, like);
      given.replaceAllUsesWith(positions);
      (void)entry.eraseArgument(i);
    }
  }

  // Ids that units compute depend on inputs only. They move before the units,
  // each once, so that all layers share one state for them.
  void hoistIds() {
    SmallVector<Operation *> ops;
    entry.walk([&](Operation *op) {
      bool inUnit = op->getParentOp() != entry;
      if (inUnit && op->getNumResults() == 1 &&
          getElementTypeOrSelf(op->getResult(0).getType()).isInteger())
        ops.push_back(op);
    });
    SmallVector<Operation *> hoisted;
    for (Operation *op : ops) {
      auto same = llvm::find_if(hoisted, [&](Operation *other) {
        return OperationEquivalence::isEquivalentTo(
            op, other, OperationEquivalence::IgnoreLocations);
      });
      if (same != hoisted.end()) {
        op->replaceAllUsesWith(*same);
        op->erase();
        continue;
      }
      op->moveBefore(entry.front().findAncestorOpInBlock(*op));
      hoisted.push_back(op);
    }
  }

  Value firstOfTokens(Value besides) {
    for (BlockArgument argument : entry.getArguments())
      if (argument != besides && hasTokens(argument))
        return argument;
    return besides;
  }

  // A value for all tokens of the sequences: those in its state and the run's.
  Value remembered(StringRef role, Value value) {
    if (!value)
      return {};
    Value &known = made[value];
    if (known)
      return known;
    auto type = cast<RankedTensorType>(value.getType());
    bool ids = type.getElementType().isInteger();
    auto layer = layerOf(value);
    BlockArgument state =
        states.stateFor(role, type.getElementType(), sizes::context,
                        ids ? 1 : type.getShape().back(), layer);
    builder.setInsertionPointAfterValue(value);
    known =
        RememberOp::create(builder, value.getLoc(), type, value, state,
                           builder.getI64IntegerAttr(layer.value_or(0)), past);
    return known;
  }

  void extend(AttendOp op) {
    SmallVector<Value> biases;
    Value key = remembered("keys", op.getKey());
    for (Value bias : op.getBiases())
      biases.push_back(extended(bias, key));
    op.getValueMutable().assign(remembered("values", op.getValue()));
    op.getKeyMutable().assign(key);
    if (op.getKeyMask())
      op.getKeyMaskMutable().assign(remembered("mask", op.getKeyMask()));
    if (op.getSegments())
      op.getSegmentsMutable().assign(remembered("segments", op.getSegments()));
    op.getBiasesMutable().assign(biases);
    op.getPastMutable().assign(past);
  }

  // A bias over all tokens in the state.
  Value extended(Value bias, Value key) {
    Operation *op = bias.getDefiningOp();
    StringRef role = isa<KeyHeadBiasOp>(op) ? "biases" : "positions";
    Value read =
        isa<DistanceBiasOp>(op) ? key : remembered(role, op->getOperand(0));
    builder.setInsertionPointAfterValue(read);
    Operation *over = builder.clone(*op);
    over->setOperand(0, read);
    return over->getResult(0);
  }

  void extend(LinearAttendOp op) {
    auto layer = layerOf(op.getResult());
    BlockArgument state =
        states.stateFor("sums", builder.getF32Type(),
                        ShapeExtent(int64_t(op.getHeads() * op.getHeadDim())),
                        op.getValueDim(), layer);
    op.getStateMutable().assign(state);
    op.getPastMutable().assign(past);
    op.setIndex(layer.value_or(0));
  }

  void extend(CountTokensOp op) {
    op.getIdsMutable().assign(remembered("counted", op.getIds()));
    op.getPastMutable().assign(past);
  }

  // Biases over the run's tokens only have no reader any more.
  void dropUnused() {
    SmallVector<Operation *> unused;
    entry.walk([&](Operation *op) {
      if (isa<PositionBiasOp, DistanceBiasOp, KeyHeadBiasOp, PositionsOp>(op) &&
          op->use_empty())
        unused.push_back(op);
    });
    for (Operation *op : llvm::reverse(unused))
      if (op->use_empty())
        op->erase();
  }

  func::FuncOp entry;
  OpBuilder builder;
  EntryStates states;
  BlockArgument past;
  DenseMap<Value, Value> made;
};

} // namespace

std::string mille::entries::whyNotExtend(func::FuncOp forward,
                                         const EntryPart &decoder) {
  SmallVector<unsigned> outputs = outputsOfTokens(forward, decoder);
  if (outputs.empty())
    return "no output has a row for each token";
  std::string why;
  bool looksBack = false;
  Value source = sourceOf(forward, decoder);
  for (unsigned output : outputs)
    for (Operation *op : needsBeside(outputValue(forward, output), source).ops)
      op->walk([&](Operation *inner) {
        looksBack |= isa<AttendOp, LinearAttendOp>(inner);
        if (why.empty())
          why = whyNot(inner, source);
      });
  return !why.empty() || looksBack ? why : "no token reads earlier ones";
}

static func::FuncOp makeExtend(func::FuncOp forward, StringRef name,
                               const EntryPart &decoder, LatentRows latent) {
  func::FuncOp entry =
      makeSlice(forward, name, outputsOfTokens(forward, decoder), decoder.cut);
  if (latent != LatentRows::none)
    attendLatent(entry, latent);
  const bool decodes = decoder.cut >= 0;
  Extend(entry).run(decodes ? outputName(forward, decoder.cut) : StringRef());
  auto model = forward->getParentOfType<ModelOp>();
  std::string limit =
      ("max_" + (decodes ? sizes::decoderTokens : sizes::tokens)).str();
  if (auto most = model->getAttrOfType<IntegerAttr>(limit))
    model->setAttr(("max_" + sizes::context).str(), most);
  return entry;
}

func::FuncOp mille::entries::deriveExtend(func::FuncOp forward,
                                          const EntryPart &decoder,
                                          LatentRows latent) {
  return makeExtend(forward, "extend", decoder, latent);
}

func::FuncOp mille::entries::deriveNext(func::FuncOp forward,
                                        const EntryPart &decoder,
                                        LatentRows latent) {
  func::FuncOp entry = makeExtend(forward, "next", decoder, latent);
  keepLastTokens(entry);
  return entry;
}

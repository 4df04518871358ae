// Verifiers of the ops of a training step, one `// Cn` per labelled constraint.
// Gradients that are checked like their forward op are beside it.
#include "dialects/transformer/Symbols.h"
#include "dialects/transformer/Training.h"
#include "dialects/transformer/VerifyShapes.h"

using namespace mlir;
using namespace mille::transformer;
using mille::extentText;
using mille::shapeText;

LogicalResult CrossEntropyOp::verify() {
  ArrayRef<int64_t> rows = shapeOf(getLogits()).drop_back();
  if (!agree(shapeOf(getLabels()), rows)) // C1
    return mismatch(*this, "labels", shapeOf(getLabels()), "logits",
                    shapeOf(getLogits()));
  if (!agree(shapeOf(getLosses()), rows)) // C1
    return mismatch(*this, "losses", shapeOf(getLosses()), "logits",
                    shapeOf(getLogits()));
  if (shapeOf(getWeight()) != ArrayRef<int64_t>{1}) // C2
    return emitOpError() << "weight is " << shapeText(shapeOf(getWeight()))
                         << " but must be [1]";
  double smoothing = getSmoothing().convertToDouble();
  if (!(smoothing >= 0 && smoothing < 1)) // C3
    return emitOpError() << "smoothing is " << formatDouble(smoothing)
                         << " but must be at least 0 and below 1";
  if (int64_t(getIgnore()) >= 0) // C3
    return emitOpError() << "ignore is " << int64_t(getIgnore())
                         << " but must be < 0";
  return success();
}

template <typename Op> static LogicalResult verifyWeight(Op op) {
  if (shapeOf(op.getWeight()) != ArrayRef<int64_t>{1}) // C1
    return op.emitOpError()
           << "weight is " << shapeText(shapeOf(op.getWeight()))
           << " but must be [1]";
  return success();
}

LogicalResult SquaredErrorOp::verify() {
  return verifyWeight(*this); // C1
}

LogicalResult BinaryCrossEntropyOp::verify() {
  return verifyWeight(*this); // C1
}

LogicalResult WeightGradientOp::verify() {
  ArrayRef<int64_t> rows = shapeOf(getInput()).drop_back();
  if (!agree(shapeOf(getGradient()).drop_back(), rows)) // C3
    return mismatch(*this, "gradient", shapeOf(getGradient()), "input",
                    shapeOf(getInput()));
  if (failed(verifyExperts(*this, getExperts(), getInput()))) // C3
    return failure();
  if (getFixedRows() && getExperts()) // C5
    return emitOpError("has fixed_rows and experts");
  if (failed(verifyFixedRows(*this, getFixedRowsAttr(), // C5
                             channelsOf(getGradient()))))
    return failure();
  return verifyFinite(*this, "scale", getScale().convertToDouble()); // C4
}

LogicalResult
WeightGradientOp::verifySymbolUses(SymbolTableCollection &tables) {
  const int64_t outputs = channelsOf(getGradient());
  return verifyLinearShapes(*this, getWeightAttr(), // C1
                            getBiasAttr(),          // C2
                            {outputs, channelsOf(getInput())}, outputs,
                            bool(getExperts()), tables);
}

LogicalResult ActivateGradientOp::verify() {
  int64_t given =
      bool(getFunction()) + bool(getCap()) + (getLow() || getHigh() ? 1 : 0);
  if (given != 1 || bool(getLow()) != bool(getHigh())) // C1
    return emitOpError("must have one of `by`, `cap`, and `low` with `high`");
  size_t results = getUp() ? 2 : 1;
  if (getResults().size() != results) // C2
    return emitOpError() << "has " << getResults().size()
                         << " results but must have " << results;
  for (Type type : getResultTypes())
    if (type != getInput().getType()) // C2
      return emitOpError() << "gives " << type << " but input is "
                           << getInput().getType();
  double offset = getUpOffset().convertToDouble();
  if (!getUp() && offset != 0) // C3
    return emitOpError() << "up_offset is " << formatDouble(offset)
                         << " but there is no up";
  return verifyFinite(*this, "up_offset", offset); // C3
}

LogicalResult ScaleGradientOp::verifySymbolUses(SymbolTableCollection &tables) {
  int64_t channels = channelsOf(getGradient());
  auto type = dyn_cast_or_null<TypeAttr>(
      resolveSymbol(*this, getScaleAttr(), tables).meaning);
  if (type && cast<ShapedType>(type.getValue()).getShape() ==
                  ArrayRef<int64_t>{1}) // C1
    return success();
  return verifyShapeOf(*this, "scale", getScaleAttr(), {channels},
                       tables); // C1
}

LogicalResult
ConstantGradientOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyShapeOf(*this, "value", getValueAttr(),
                       shapeOf(getGradient()).take_back(2), tables); // C1
}

LogicalResult DropoutOp::verify() {
  for (auto [name, value] :
       {std::pair<StringRef, Value>{"step", getStep()}, {"first", getFirst()}})
    if (shapeOf(value) != ArrayRef<int64_t>({1})) // C1
      return mismatch(*this, name, shapeOf(value), "a number", {1});
  std::string why = mille::dropoutProblem(getRate().convertToDouble(),
                                          getSeed(), getSite(), getAfter());
  return why.empty() ? success() : LogicalResult(emitOpError() << why); // C2
}

LogicalResult RouteGradientOp::verify() {
  ArrayRef<int64_t> logits = shapeOf(getLogits()).drop_back();
  for (auto [name, value] :
       {std::pair<StringRef, Value>{"gradient", getGradient()},
        {"experts", getExperts()}})
    if (shapeOf(value).size() != logits.size() + 1 ||
        !agree(shapeOf(value).drop_back(), logits) ||
        channelsOf(value) != channelsOf(getGradient()) ||
        ShapedType::isDynamic(channelsOf(value))) // C1
      return mismatch(*this, name, shapeOf(value), "logits",
                      shapeOf(getLogits()));
  if (failed(verifyFinite(*this, "factor",
                          getFactor().convertToDouble()))) // C2
    return failure();
  return verifyFinite(*this, "epsilon", getEpsilon().convertToDouble()); // C2
}

LogicalResult SlotProductsOp::verify() {
  ArrayRef<int64_t> slots = shapeOf(getSlots()), row = shapeOf(getRow());
  if (slots.size() == 4 && row.size() == 3 &&
      agree({slots[0], slots[1], slots[3]}, row) &&
      agree(slots.take_front(3), shapeOf(getResult()))) // C1
    return success();
  return mismatch(*this, "slots", slots, "row", row)
         << " and result is " << shapeText(shapeOf(getResult()));
}

namespace {

// Checks that `name` is one of those that the layers around `op` save.
LogicalResult verifySaves(Operation *op, StringAttr name) {
  auto stack = op->getParentOfType<LayersOp>();
  if (!stack || !name)
    return success();
  ArrayAttr saves = stack.getSavesAttr();
  if (saves && llvm::is_contained(saves, Attribute(name))) // C1, C10
    return success();
  auto error = op->emitOpError()
               << "saves " << name << " but its layers do not name it";
  error.attachNote(stack.getLoc())
      << "these layers save " << (saves ? saves.size() : 0) << " values";
  return error;
}

} // namespace

LogicalResult SaveOp::verify() { return verifySaves(*this, getNameAttr()); }

LogicalResult mille::transformer::verifySumAs(ResidualOp op) {
  return verifySaves(op, op.getSumAsAttr()); // C10
}

LogicalResult mille::transformer::verifySaved(Operation *entry) {
  llvm::StringMap<Type> saved, collected;
  WalkResult walked = entry->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto save = dyn_cast<SaveOp>(op))
      saved[save.getName()] = save.getValue().getType();
    if (auto unit = dyn_cast<ResidualOp>(op); unit && unit.getSumAs())
      saved[*unit.getSumAs()] = unit.getInput().getType();
    if (auto collect = dyn_cast<CollectOp>(op))
      collected[collect.getName()] = collect.getValue().getType();
    if (!isa<SavedOp, CollectedOp>(op))
      return WalkResult::advance();
    auto name = op->getAttrOfType<StringAttr>("name");
    Type type = (isa<SavedOp>(op) ? saved : collected).lookup(name.getValue());
    if (type == op->getResult(0).getType())
      return WalkResult::advance();
    auto error = op->emitOpError() << "reads " << name; // C6
    if (type)
      error << " as " << op->getResult(0).getType() << " but it was made as "
            << type;
    else
      error << ", which was not made before";
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult ReverseTokensOp::verify() {
  if (shapeOf(getInput()).size() != 3) // C1
    return emitOpError() << "input is " << shapeText(shapeOf(getInput()))
                         << " but must be [batch, tokens, channels]";
  if (getKeyMask() &&
      !agree(shapeOf(getKeyMask()), shapeOf(getInput()).drop_back())) // C1
    return mismatch(*this, "key_mask", shapeOf(getKeyMask()), "input",
                    shapeOf(getInput()));
  return success();
}

// The rows of a sum are those of a value from outside of the layers.
static LogicalResult verifyLike(Operation *op, StringRef name, Value rows,
                                Value like) {
  if (shapeOf(rows).size() == shapeOf(like).size() &&
      agree(shapeOf(rows).drop_back(), shapeOf(like).drop_back())) // C1
    return success();
  return mismatch(op, name, shapeOf(rows), "like", shapeOf(like));
}

LogicalResult CollectOp::verify() {
  return verifyLike(*this, "value", getValue(), getLike()); // C1
}

LogicalResult CollectedOp::verify() {
  return verifyLike(*this, "result", getResult(), getLike()); // C1
}

//===-- a loss that balances experts --------------------------------------===//

// Checks that `shares` has two channels for each of the logits' experts.
static LogicalResult verifyShares(Operation *op, StringRef name, Value shares,
                                  Value logits) {
  SmallVector<int64_t> wanted(shapeOf(logits));
  if (!ShapedType::isDynamic(wanted.back()))
    wanted.back() *= 2;
  if (wanted.size() == shapeOf(shares).size() && agree(shapeOf(shares), wanted))
    return success();
  return mismatch(op, name, shapeOf(shares), "logits", shapeOf(logits));
}

LogicalResult RouteSharesOp::verify() {
  ArrayRef<int64_t> logits = shapeOf(getLogits()),
                    experts = shapeOf(getExperts());
  if (experts.size() != logits.size() ||
      !agree(experts.drop_back(), logits.drop_back()) ||
      ShapedType::isDynamic(experts.back())) // C1
    return mismatch(*this, "experts", experts, "logits", logits);
  return verifyShares(*this, "result", getResult(), getLogits()); // C2
}

LogicalResult SharesGradientOp::verify() {
  return verifyShares(*this, "gradient", getGradient(), getLogits()); // C1
}

LogicalResult BalanceLossOp::verify() {
  ArrayRef<int64_t> shares = shapeOf(getShares());
  for (auto [name, value] :
       {std::pair<StringRef, Value>{"losses", getLosses()},     // C1
        std::pair<StringRef, Value>{"key_mask", getKeyMask()}}) // C2
    if (value && !agree(shapeOf(value), shares.drop_back()))
      return mismatch(*this, name, shapeOf(value), "shares", shares);
  const int64_t k = getK(), channels = shares.back();
  if (ShapedType::isDynamic(channels) || channels % 2 || k < 1 ||
      k > channels / 2) // C3
    return emitOpError() << "shares is " << shapeText(shares) << " but k is "
                         << k << ", of experts that have two channels each";
  const double factor = getFactor().convertToDouble();
  if (!std::isfinite(factor) || factor < 0) // C4
    return emitOpError() << "factor is " << formatDouble(factor)
                         << " but must be finite and >= 0";
  return success();
}

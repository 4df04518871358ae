// Verifiers of the kernels of a training step, one `// Cn` per labelled
// constraint. Attention's backward pass is in VerifyAttention.cpp.
#include "dialects/kernel/Access.h"
#include "dialects/kernel/Backward.h"
#include "dialects/transformer/Panels.h"
#include "dialects/transformer/Symbols.h"

using namespace mlir;
using namespace mille::kernel;
using mille::transformer::formatDouble;

LogicalResult WeightGradientOp::verify() {
  auto outputs = columnsOf(*this, "gradient", getGradient(),
                           Elements::f32OrBf16); // C1
  if (!outputs)
    return failure();
  auto inputs =
      columnsOf(*this, "input", getInput(), Elements::f32OrBf16); // C1
  if (!inputs)
    return failure();
  if (shapedOf(getGradient()).getElementType() !=
      shapedOf(getInput()).getElementType()) // C1
    return emitOpError() << "input is " << getInput().getType()
                         << " but gradient is " << getGradient().getType();
  FailureOr<int64_t> entries = entriesOf(*this, getStarts()); // C3
  if (failed(entries))
    return failure();
  SmallVector<int64_t> out{*outputs, *inputs};
  if (*entries)
    out.insert(out.begin(), *entries);                     // C3
  if (failed(verifyOneOf(*this, "outs", getOut(), {out}))) // C1
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C2
}

// The columns of a row, and what each of them is added to.
static LogicalResult verifyTo(ColumnSumsOp op, int64_t columns) {
  ShapedType out = shapedOf(op.getOut());
  const bool fixed = out.hasStaticShape() && out.getElementType().isF32() &&
                     out.getRank() >= 1 && out.getRank() <= 2;
  std::optional<ArrayRef<int64_t>> to = op.getTo();
  if (!to) {
    if (!fixed || out.getRank() != 1 || out.getDimSize(0) < 1 ||
        columns % out.getDimSize(0)) // C1
      return op.emitOpError()
             << "outs is " << out
             << " but must be f32 [P] where P divides the columns of input 0, "
             << columns;
    return success();
  }
  if (!fixed) // C4
    return op.emitOpError()
           << "outs is " << out << " but must be f32 of one dimension or two";
  if (int64_t(to->size()) != columns) // C4
    return op.emitOpError()
           << "to has " << to->size() << " numbers but input 0 has " << columns
           << " columns";
  for (int64_t number : *to)
    if (number < 0 || number >= out.getNumElements()) // C4
      return op.emitOpError() << "to has " << number << " but outs has "
                              << out.getNumElements() << " numbers";
  return success();
}

LogicalResult ColumnSumsOp::verify() {
  if (getInputs().empty()) // C1
    return emitOpError("has no input");
  auto columns = columnsOf(*this, "input 0", getInputs()[0],
                           Elements::f32OrBf16); // C1
  if (!columns || failed(verifyTo(*this, *columns)))
    return failure();
  for (auto [index, input] : llvm::enumerate(getInputs()))
    if (failed(verifyAccess(*this, "input", index, input, *columns))) // C1
      return failure();
  if (accessOf(shapedOf(getInputs()[0]), *columns) != Access::element) // C1
    return emitOpError() << "input 0 is " << getInputs()[0].getType()
                         << " but must be [?, " << *columns << "]";
  if (failed(verifyScalarRegion(*this, getBody(), getInputs().size(),
                                "one per input"))) // C2
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C3
}

LogicalResult EmbedGradientOp::verify() {
  auto columns = columnsOf(*this, "gradient", getGradient());          // C1
  if (!columns || failed(verifyOutColumns(*this, getOut(), *columns))) // C1
    return failure();
  if (shapedOf(getOut()).getDimSize(0) < 1) // C1; dynamic is < 0
    return emitOpError() << "outs is " << getOut().getType()
                         << " but its number of entries must be known";
  return verifyResult(*this, getOut(), getResult()); // C2
}

LogicalResult NormBackwardOp::verify() {
  auto columns = columnsOf(*this, "gradient", getGradient()); // C1
  if (!columns)
    return failure();
  auto inputs = columnsOf(*this, "input", getInput()); // C1
  if (!inputs)
    return failure();
  if (*inputs != *columns) // C1
    return emitOpError() << "input has " << *inputs
                         << " columns but gradient has " << *columns;
  if (failed(verifyOneOf(*this, "weight", getWeight(),
                         {{*columns}, {1, *columns}}))) // C1
    return failure();
  if (getOuts().empty() || getOuts().size() > 2) // C1
    return emitOpError() << "has " << getOuts().size()
                         << " outs but there are one or two: the gradient of "
                            "the input, and the normed row";
  for (Value out : getOuts())
    if (failed(verifyOutColumns(*this, out, *columns))) // C1
      return failure();
  if (failed(verifyRowNorm(*this, getNorm(), *columns))) // C2
    return failure();
  return verifyResults(*this, getOuts(), getResults()); // C3
}

LogicalResult CrossEntropyOp::verify() {
  auto columns = columnsOf(*this, "logits", getLogits()); // C1
  if (!columns ||
      failed(verifyOneOf(*this, "times", getTimes(), {{1}})) || // C1
      failed(verifyOneOf(*this, "losses", getLosses(),
                         {{ShapedType::kDynamic, 1}})) ||       // C1
      failed(verifyOutColumns(*this, getGradient(), *columns))) // C1
    return failure();
  const double smoothing = getSmoothing().convertToDouble();
  if (!(smoothing >= 0 && smoothing < 1)) // C2
    return emitOpError() << "smoothing is " << formatDouble(smoothing)
                         << " but must be >= 0 and < 1";
  return verifyResults(*this, {getLosses(), getGradient()}, getResults()); // C3
}

LogicalResult PackOp::verify() {
  FailureOr<int64_t> entries = entriesOf(*this, getStarts()); // C3
  if (failed(entries))
    return failure();
  ShapedType weight = shapedOf(getWeight());
  const std::string stack = *entries ? std::to_string(*entries) + ", " : "";
  ArrayRef<int64_t> matrix = weight.getShape(), out = shapeOf(getOut());
  if (!weight.hasStaticShape() || !weight.getElementType().isF32() ||
      matrix.size() != (*entries ? 3 : 2) || // C1
      (*entries && matrix[0] != *entries))   // C3
    return emitOpError() << "weight is " << weight << " but must be f32 ["
                         << stack << "N, K] of known sizes";
  const bool sameEntries = !*entries || (!out.empty() && out[0] == *entries);
  if (*entries && sameEntries)
    out = out.drop_front();
  int64_t rows = matrix.end()[-2], columns = matrix.back();
  if (getTransposed())
    std::swap(rows, columns);
  const Type element = shapedOf(getOut()).getElementType();
  const int64_t group = element.isBF16() ? 2 : 1;
  const bool fits =
      out.size() == 3
          ? out[2] > 0 && out[2] % group == 0 &&
                out == ArrayRef<int64_t>(
                           mille::Panels{out[2] / group, 1, group}.shapeOf(
                               {rows, columns}))
          : out == ArrayRef<int64_t>({rows, columns});
  if (!fits || !sameEntries ||                // C3
      !(element.isF32() || element.isBF16())) // C1
    return emitOpError() << "outs is " << getOut().getType()
                         << " but must be f32 or bf16 [" << stack << rows
                         << ", " << columns << "], or panels of it";
  return verifyResult(*this, getOut(), getResult()); // C2
}

LogicalResult PairSumsOp::verify() {
  const int64_t pairs = getIndex().size(), tokens = tokensOfPairs(pairs);
  if (tokens <= 0) // C1
    return emitOpError() << "index has " << pairs
                         << " numbers but must have one for each pair of "
                            "tokens";
  ShapedType out = shapedOf(getOut());
  if (!out.hasStaticShape() || !out.getElementType().isF32() ||
      out.getRank() != 2) // C1
    return emitOpError() << "outs is " << out
                         << " but must be f32 [entries, heads]";
  for (int64_t row : getIndex())
    if (row < 0 || row >= out.getDimSize(0)) // C1
      return emitOpError() << "index has " << row << " but outs has "
                           << out.getDimSize(0) << " rows";
  auto columns = columnsOf(*this, "gradient", getGradient()); // C2
  if (!columns)
    return failure();
  if (*columns % tokens || *columns / tokens != out.getDimSize(1)) // C2
    return emitOpError() << "gradient has " << *columns
                         << " columns but there are " << tokens
                         << " tokens and " << out.getDimSize(1) << " heads";
  return verifyResult(*this, getOut(), getResult()); // C3
}

//===-- experts -----------------------------------------------------------===//

LogicalResult RouteGradientOp::verify() {
  FailureOr<int64_t> entries = entriesOf(*this, getStarts()); // C1
  auto k = columnsOf(*this, "gradient", getGradient());       // C1
  auto experts = columnsOf(*this, "logits", getLogits());     // C1
  if (failed(entries) || !k || !experts ||
      failed(verifyIndices(*this, "place", getPlace())) || // C1
      failed(verifyOutColumns(*this, getOut(), *experts))) // C1
    return failure();
  if (*experts != *entries) // C1
    return emitOpError() << "starts is " << getStarts().getType()
                         << " but there are " << *experts << " experts";
  if (*k > *experts) // C1
    return emitOpError() << "gradient has " << *k << " columns but there are "
                         << *experts << " experts";
  const double epsilon = getEpsilon().convertToDouble(),
               factor = getFactor().convertToDouble();
  if (!std::isfinite(epsilon) || epsilon < 0) // C2
    return emitOpError() << "epsilon is " << formatDouble(epsilon)
                         << " but must be finite and >= 0";
  if (!std::isfinite(factor)) // C2
    return emitOpError() << "factor is " << formatDouble(factor)
                         << " but must be finite";
  return verifyResult(*this, getOut(), getResult()); // C3
}

LogicalResult SlotProductsOp::verify() {
  auto columns = columnsOf(*this, "slots", getSlots()); // C1
  auto ofRow = columnsOf(*this, "row", getRow());       // C1
  auto k = columnsOf(*this, "outs", getOut());          // C2
  if (!columns || !ofRow || !k ||
      failed(verifyIndices(*this, "place", getPlace()))) // C1
    return failure();
  if (*columns != *ofRow) // C1
    return emitOpError() << "slots has " << *columns << " columns but row has "
                         << *ofRow;
  if (failed(verifyPositive(*this, "k", *k))) // C2
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C3
}

LogicalResult ExpertsOp::verify() {
  if (failed(entriesOf(*this, getStarts()))) // C1
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C2
}

LogicalResult RouteSharesOp::verify() {
  FailureOr<int64_t> entries = entriesOf(*this, getStarts()); // C1
  auto experts = columnsOf(*this, "logits", getLogits());     // C1
  if (failed(entries) || !experts ||
      failed(verifyIndices(*this, "place", getPlace())) ||     // C1
      failed(verifyOutColumns(*this, getOut(), 2 * *experts))) // C1
    return failure();
  if (*experts != *entries) // C1
    return emitOpError() << "starts is " << getStarts().getType()
                         << " but there are " << *experts << " experts";
  const int64_t k = getK();
  if (k < 1 || k > *experts) // C1
    return emitOpError() << "k is " << k << " but there are " << *experts
                         << " experts";
  return verifyResult(*this, getOut(), getResult()); // C2
}

LogicalResult SharesGradientOp::verify() {
  auto experts = columnsOf(*this, "logits", getLogits());      // C1
  auto channels = columnsOf(*this, "gradient", getGradient()); // C1
  if (!experts || !channels ||
      failed(verifyOutColumns(*this, getOut(), *experts))) // C1
    return failure();
  if (*channels != 2 * *experts) // C1
    return emitOpError() << "gradient has " << *channels
                         << " columns but there are " << *experts << " experts";
  return verifyResult(*this, getOut(), getResult()); // C2
}

LogicalResult BalanceLossOp::verify() {
  auto losses = columnsOf(*this, "losses", getLosses());   // C1
  auto channels = columnsOf(*this, "shares", getShares()); // C1
  if (!losses || !channels)
    return failure();
  if (getOuts().size() != 2) // C1
    return emitOpError() << "has " << getOuts().size()
                         << " outs but must have losses and a gradient";
  if (*losses != 1) // C1
    return emitOpError() << "losses has " << *losses
                         << " columns but must have 1";
  if (failed(verifyOutColumns(*this, getOuts()[0], 1)) ||         // C1
      failed(verifyOutColumns(*this, getOuts()[1], *channels)) || // C1
      failed(verifyIndices(*this, "key_mask", getKeyMask())))     // C3
    return failure();
  const int64_t k = getK();
  if (*channels % 2 || k < 1 || k > *channels / 2) // C1, C2
    return emitOpError() << "shares has " << *channels << " columns but k is "
                         << k << ", of experts that have two columns each";
  const double factor = getFactor().convertToDouble();
  if (!std::isfinite(factor) || factor < 0) // C2
    return emitOpError() << "factor is " << formatDouble(factor)
                         << " but must be finite and >= 0";
  return verifyResults(*this, getOuts(), getResults()); // C4
}

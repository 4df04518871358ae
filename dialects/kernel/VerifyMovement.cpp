// Verifiers of ops that move and sort rows, one `// Cn` per labelled
// constraint.
#include "dialects/kernel/Access.h"
#include "dialects/transformer/Sizes.h"
#include "dialects/transformer/Symbols.h"

#include <cmath>

using namespace mlir;
using namespace mille::kernel;
using mille::transformer::formatDouble;

LogicalResult GatherTokensOp::verify() {
  auto columns = columnsOf(*this, "input", getInput());
  int64_t group = getGroup(), tokens = getTokens(), each = getParts(), parts,
          wanted;
  if (!columns || failed(verifyPositive(*this, "group", group)) || // C1
      failed(verifyPositive(*this, "parts", each)) ||              // C1
      failed(verifyPositive(*this, "tokens", tokens)))             // C1
    return failure();
  if (*columns % each) // C2
    return emitOpError() << "input has " << *columns << " columns but parts is "
                         << each;
  if (getIndex().empty() || getIndex().size() % group) // C1
    return emitOpError() << "index has " << getIndex().size()
                         << " entries but group is " << group;
  if (__builtin_mul_overflow(tokens, each, &parts)) // C1
    return emitOpError() << "has " << tokens << " tokens of " << each
                         << " parts";
  for (int64_t part : getIndex())
    if (part < -1 || part >= parts) // C1
      return emitOpError() << "index names token " << part << " of " << parts;
  if (__builtin_mul_overflow(*columns / each, group, &wanted)) // C2
    return emitOpError() << "joins " << group << " tokens of " << *columns
                         << " columns";
  if (failed(verifyOutColumns(*this, getOut(), wanted))) // C2
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C3
}

namespace {

// The attributes are those of transformer.route.
LogicalResult verifyRouter(RouteOp op, int64_t entries) {
  if (failed(mille::transformer::verifyChoice(
          op, entries, op.getK(), op.getGroups(), op.getTopGroups())))
    return failure();
  double epsilon = op.getEpsilon().convertToDouble(),
         factor = op.getFactor().convertToDouble();
  if (!std::isfinite(epsilon) || epsilon < 0)
    return op.emitOpError() << "epsilon is " << formatDouble(epsilon)
                            << " but must be finite and >= 0";
  if (!std::isfinite(factor))
    return op.emitOpError()
           << "factor is " << formatDouble(factor) << " but must be finite";
  return success();
}

} // namespace

LogicalResult RouteOp::verify() {
  auto entries = columnsOf(*this, "logits", getLogits()); // C1
  if (!entries)
    return failure();
  if (getOuts().size() != 4) // C1
    return emitOpError()
           << "has " << getOuts().size()
           << " outs but there are 4: weights, order, place, starts";
  if (failed(verifyOutColumns(*this, getOuts()[0], getK())) || // C1
      failed(verifyIndices(*this, "order", getOuts()[1])) ||
      failed(verifyIndices(*this, "place", getOuts()[2])) ||
      failed(verifyIndices(*this, "starts", getOuts()[3])))
    return failure();
  int64_t starts = shapeOf(getOuts()[3])[0];
  if (starts <= 0 || starts - 1 != *entries) // C1; dynamic is < 0
    return emitOpError() << "starts is " << getOuts()[3].getType()
                         << " but there are " << *entries << " experts";
  if (failed(verifyRouter(*this, *entries))) // C4
    return failure();
  if (failed(verifyOneOf(*this, "selection_bias", getSelectionBias(), // C2
                         {{*entries}})))
    return failure();
  return verifyResults(*this, getOuts(), getOutcomes()); // C3
}

namespace {

// Input and out have rows of one width, and k slots.
template <typename Op> LogicalResult verifySlots(Op op) {
  auto columns = columnsOf(op, "input", op.getInput()); // C1
  if (!columns || failed(verifyPositive(op, "k", op.getK())) ||
      failed(verifyOutColumns(op, op.getOut(), *columns)) || // C1
      failed(verifyIndices(op, "place", op.getPlace())) ||
      failed(verifyOneOf(op, "weights", op.getWeights(), // C2
                         {{ShapedType::kDynamic, int64_t(op.getK())}})))
    return failure();
  return verifyResult(op, op.getOut(), op.getResult()); // C3
}

} // namespace

LogicalResult DispatchOp::verify() {
  if (failed(verifyIndices(*this, "order", getOrder()))) // C1
    return failure();
  return verifySlots(*this);
}

LogicalResult CombineOp::verify() { return verifySlots(*this); }

// Converts norms, scales and residual units from `transformer` to `kernel`, by
// one formula, y = s N_out(A r + sum_i B_i N_branch,i(F_i(N_in,i(x)))).
// Must not know a placement's name.
#include "compiler/fuse/Activations.h"
#include "compiler/fuse/Converter.h"

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

namespace {

Value product(OpBuilder &builder, Location location, Value a, Value b) {
  return arith::MulFOp::create(builder, location, a, b);
}

// The factor of a scale inside a region: a constant, or the argument that holds
// it. Null where it is the constant 1.
Value factor(OpBuilder &builder, Location location, ScaleAttr scale,
             Value argument) {
  if (argument)
    return argument;
  if (!scale || double(scale.getValue()) == 1)
    return {};
  return constant(builder, location, scale.getValue());
}

Value scaled(OpBuilder &builder, Location location, ScaleAttr scale,
             Value argument, Value x) {
  Value by = factor(builder, location, scale, argument);
  return by ? product(builder, location, by, x) : x;
}

} // namespace

// The first schedule of a slot has the slot's name, the others a number after
// it.
std::string Converter::scheduleName(StringRef slot) {
  unsigned number = schedules[slot]++;
  return number ? (slot + "." + Twine(number)).str() : slot.str();
}

// The value that holds a scale; null for a constant, which the text holds.
FailureOr<Value> Converter::scaleOperand(Operation *at, StringRef slot,
                                         ScaleAttr scale) {
  if (!scale)
    return Value();
  if (scale.getSymbol()) {
    Value operand = weight(at->getLoc(), scale.getSymbol());
    if (!operand)
      return failure();
    return operand;
  }
  if (scale.getKind() != ScaleKind::scheduled)
    return Value();
  if (Value known = isTrained() ? scheduled.lookup(scale) : Value())
    return known;
  Value step;
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    auto name = function.getArgAttrOfType<StringAttr>(i, "transformer.name");
    if (name && name.getValue() == "step")
      step = valueOf(argument);
  }
  if (!step)
    return at->emitOpError("has a scheduled scale but '")
           << function.getName() << "' has no input 'step'";
  auto name = head.getStringAttr(slot);
  return scheduled[scale] =
             once({name.getAsOpaquePointer(), scale.getAsOpaquePointer()},
                  [&]() -> Value {
                    auto type = RankedTensorType::get({1}, head.getF32Type());
                    Value to = tensor::EmptyOp::create(head, at->getLoc(), type,
                                                       ValueRange());
                    return kernel::ScheduleOp::create(
                               head, at->getLoc(), type,
                               head.getStringAttr(scheduleName(slot)), step,
                               head.getF64FloatAttr(scale.getFrom()),
                               head.getF64FloatAttr(scale.getTo()),
                               head.getI64IntegerAttr(scale.getSteps()), to)
                        .getResult();
                  });
}

// A norm's weight or bias, a number per column; null after an error.
Value Converter::normWeight(Location location, Attribute value,
                            int64_t columns) {
  auto type = typeOf(location, value);
  if (failed(type))
    return {};
  const int64_t count = type->getNumElements();
  if (count == columns)
    return weight(location, value);
  if (!isTrained())
    return weight(location, RepeatAttr::get(value.getContext(), value,
                                            columns / count, false));
  Value held = weight(location, value);
  SmallVector<int64_t> from;
  for (int64_t n = 0; n < columns; ++n)
    from.push_back(n % count);
  return held ? spread(location, held, from, {columns}) : Value();
}

// scale * (norm(input) * weight + bias); null after an error.
Value Converter::norm(Location location, NormAttr attribute, Value input,
                      Value rows, ScaleAttr scale) {
  RowsParts spec;
  spec.inputs.push_back(input);
  int64_t columns = cast<ShapedType>(input.getType()).getShape().back();
  bool hasWeight = attribute && attribute.getWeight();
  bool hasBias = attribute && attribute.getBias();
  // A weight that a step changes is read as it is.
  const bool plusOne =
      attribute && attribute.getAffine() == Affine::one_plus_weight;
  if (hasWeight) {
    Attribute value = attribute.getWeight();
    if (plusOne && !isTrained())
      value = PlusAttr::get(value.getContext(), value, head.getF64FloatAttr(1));
    spec.inputs.push_back(normWeight(location, value, columns));
  }
  if (hasBias)
    spec.inputs.push_back(normWeight(location, attribute.getBias(), columns));
  auto holder = scaleOperand(body.getInsertionBlock()->getParentOp(),
                             "stream_scale", scale);
  if (failed(holder) || llvm::is_contained(spec.inputs, Value()))
    return {};
  if (*holder)
    spec.inputs.push_back(*holder);
  if (attribute)
    if (auto rowKind = kernel::rowNormKindOf(attribute.getKind()))
      spec.norm =
          kernel::RowNormAttr::get(attribute.getContext(), *rowKind,
                                   attribute.getEps(), attribute.getGroup());
  bool scales = *holder || factor(body, location, scale, {});
  if (!spec.norm && spec.inputs.size() == 1 && !scales)
    return input;
  return makeRows(body, location, spec, rows, columns,
                  [&](OpBuilder &builder, Location at, ValueRange x) {
                    Value y = x[0];
                    unsigned next = 1;
                    if (hasWeight) {
                      Value by = x[next++];
                      if (plusOne && isTrained())
                        by = arith::AddFOp::create(builder, at, by,
                                                   constant(builder, at, 1));
                      y = product(builder, at, y, by);
                    }
                    if (hasBias)
                      y = arith::AddFOp::create(builder, at, y, x[next++]);
                    return scaled(builder, at, scale,
                                  *holder ? x[next] : Value(), y);
                  });
}

LogicalResult Converter::convertResidual(ResidualOp op) {
  Location location = op.getLoc();
  Value x = valueOf(op.getInput()), rows = rowsOf(op.getInput());
  auto at = [](std::optional<ArrayAttr> list, size_t i) -> Attribute {
    return !list ? Attribute() : (*list)[list->size() == 1 ? 0 : i];
  };

  // u_i = N_in,i(x), once where branches share it.
  SmallVector<Value> inputs, terms;
  llvm::DenseMap<Attribute, Value> normed;
  for (size_t i = 0; i < op.getBranches().size(); ++i) {
    Attribute inNorm = at(op.getInNorm(), i);
    Value &input = normed[inNorm];
    if (!input)
      input = inNorm ? norm(location, cast<NormAttr>(inNorm), x, rows) : x;
    if (!input)
      return failure();
    inputs.push_back(input);
  }

  // n_i = N_branch,i(F_i(u_i))
  for (auto [i, branch] : llvm::enumerate(op.getBranches())) {
    values[branch.getArgument(0)] = inputs[i];
    spaces[branch.getArgument(0)] = spaceOf(op.getInput());
    Value yielded = branch.front().getTerminator()->getOperand(0);
    if (failed(convertBlock(branch.front())) ||
        failed(sameRows(op, {op.getInput(), yielded})))
      return failure();
    Value term = valueOf(yielded);
    if (Attribute branchNorm = at(op.getBranchNorm(), i))
      term = norm(location, cast<NormAttr>(branchNorm), term, rows);
    if (!term)
      return failure();
    terms.push_back(term);
  }

  // y = A r + sum_i B_i n_i; s goes with N_out where there is one.
  SmallVector<ScaleAttr> scales{op.getSkipScaleAttr()};
  for (size_t i = 0; i < terms.size(); ++i)
    scales.push_back(cast_or_null<ScaleAttr>(at(op.getBranchScale(), i)));
  NormAttr outNorm = op.getOutNormAttr();
  scales.push_back(outNorm ? ScaleAttr() : op.getStreamScaleAttr());
  RowsParts spec;
  spec.inputs.push_back(op.getTap() == Tap::normed ? inputs.front() : x);
  llvm::append_range(spec.inputs, terms);
  SmallVector<int> holders; // the argument of each scale, -1: constant
  for (auto [i, scale] : llvm::enumerate(scales)) {
    StringRef slot = i == 0                  ? "skip_scale"
                     : i + 1 < scales.size() ? "branch_scale"
                                             : "stream_scale";
    auto operand = scaleOperand(op, slot, scale);
    if (failed(operand))
      return failure();
    holders.push_back(*operand ? int(spec.inputs.size()) : -1);
    if (*operand)
      spec.inputs.push_back(*operand);
  }
  Value y =
      makeRows(body, location, spec, rows, channelsOf(op.getInput()),
               [&](OpBuilder &builder, Location where, ValueRange arguments) {
                 auto apply = [&](size_t i, Value value) {
                   return scaled(
                       builder, where, scales[i],
                       holders[i] < 0 ? Value() : arguments[holders[i]], value);
                 };
                 Value sum = apply(0, arguments[0]);
                 for (size_t i = 0; i < terms.size(); ++i)
                   sum = arith::AddFOp::create(builder, where, sum,
                                               apply(i + 1, arguments[i + 1]));
                 return apply(scales.size() - 1, sum);
               });
  if (auto name = op.getSumAs())
    saveAs(op.getInput(), y, *name);
  if (outNorm)
    y = norm(location, outNorm, y, rows, op.getStreamScaleAttr());
  values[op.getResult()] = y;
  return success(bool(y));
}

// The adjoints of ops that work row by row: tables, norms, linears,
// activations, sums, pooling. Each is a formula of the op's documentation,
// differentiated.
#include "compiler/differentiate/Adjoint.h"
#include "compiler/differentiate/FixedRows.h"
#include "compiler/differentiate/Unit.h"

using namespace mlir;
using namespace mille::transformer;

namespace mille::differentiate {

template <> SmallVector<Value> reads<AddOp>(AddOp, const Primal &) {
  return {};
}
template <>
LogicalResult adjoint<AddOp>(AddOp, OpBuilder &, ValueRange gradients, Primal &,
                             Gradients &into) {
  into[0] = into[1] = gradients.front();
  return success();
}

template <> SmallVector<Value> reads<AffineOp>(AffineOp op, const Primal &) {
  if (isLearned(op.getScaleAttr()))
    return {op.getInput()};
  return {};
}
template <>
LogicalResult adjoint<AffineOp>(AffineOp op, OpBuilder &builder,
                                ValueRange gradients, Primal &primal,
                                Gradients &into) {
  Value g = gradients.front();
  ScaleAttr scale = op.getScaleAttr(), shift = op.getShiftAttr();
  if (isLearned(scale))
    ScaleGradientOp::create(builder, op.getLoc(), g, primal.at(op.getInput()),
                            scale.getSymbol());
  if (isLearned(shift))
    ScaleGradientOp::create(builder, op.getLoc(), g, Value(),
                            shift.getSymbol());
  into[0] = scaled(builder, scale, g);
  return success();
}

template <> SmallVector<Value> reads<EmbedOp>(EmbedOp, const Primal &) {
  return {};
}
template <>
LogicalResult adjoint<EmbedOp>(EmbedOp op, OpBuilder &builder,
                               ValueRange gradients, Primal &primal,
                               Gradients &) {
  SmallVector<Value> ids;
  SmallVector<Attribute> tables;
  SmallVector<int64_t> offsets;
  double scale = 1; // of the first table
  for (auto [i, one] : llvm::enumerate(op.getIds())) {
    Attribute table = op.getTables()[i];
    if (isFixed(op, table))
      continue;
    if (i == 0)
      scale = op.getScale().convertToDouble();
    ids.push_back(primal.at(one));
    tables.push_back(table);
    offsets.push_back(op.getOffsets()[i]);
  }
  if (!ids.empty())
    EmbedGradientOp::create(builder, op.getLoc(), gradients.front(), ids,
                            builder.getArrayAttr(tables),
                            builder.getDenseI64ArrayAttr(offsets),
                            builder.getF64FloatAttr(scale));
  return success();
}

template <> SmallVector<Value> reads<NormOp>(NormOp op, const Primal &) {
  return {op.getInput()};
}
template <>
LogicalResult adjoint<NormOp>(NormOp op, OpBuilder &builder,
                              ValueRange gradients, Primal &primal,
                              Gradients &into) {
  into[0] = NormGradientOp::create(builder, op.getLoc(), gradients.front(),
                                   primal.at(op.getInput()), op.getNorm());
  return success();
}

template <> SmallVector<Value> reads<LinearOp>(LinearOp op, const Primal &) {
  SmallVector<Value> values{op.getInput()};
  if (op.getExperts())
    values.push_back(op.getExperts());
  return values;
}
template <>
LogicalResult adjoint<LinearOp>(LinearOp op, OpBuilder &builder,
                                ValueRange gradients, Primal &primal,
                                Gradients &into) {
  Value g = gradients.front();
  Value experts = op.getExperts() ? primal.at(op.getExperts()) : Value();
  if (op.getBiasAttr() || !isFixed(op, op.getWeightAttr()))
    WeightGradientOp::create(builder, op.getLoc(), g, primal.at(op.getInput()),
                             experts, op.getWeightAttr(), op.getBiasAttr(),
                             op.getScaleAttr(),
                             fixedRowsOf(op, op.getWeightAttr()));
  if (primal.isActive(op.getInput()))
    into[0] = LinearOp::create(builder, op.getLoc(), op.getInput().getType(), g,
                               experts, op.getWeightAttr(), FlatSymbolRefAttr(),
                               op.getScaleAttr(), builder.getUnitAttr());
  return success();
}

namespace {

// What tells activate_gradient which function the forward op has.
struct Function {
  ActivationAttr function;
  FloatAttr cap, low, high, upOffset;
};

void activate(OpBuilder &builder, Location at, ValueRange gradients,
              Value input, Value up, Function f, Gradients &into) {
  SmallVector<Type> types(up ? 2 : 1, input.getType());
  if (!f.upOffset)
    f.upOffset = builder.getF64FloatAttr(0);
  auto made = ActivateGradientOp::create(builder, at, types, gradients.front(),
                                         input, up, f.function, f.cap, f.low,
                                         f.high, f.upOffset);
  llvm::copy(made.getResults(), into.begin());
}

} // namespace

template <>
SmallVector<Value> reads<ActivateOp>(ActivateOp op, const Primal &) {
  return {op.getInput()};
}
template <>
LogicalResult adjoint<ActivateOp>(ActivateOp op, OpBuilder &builder,
                                  ValueRange gradients, Primal &primal,
                                  Gradients &into) {
  activate(builder, op.getLoc(), gradients, primal.at(op.getInput()), Value(),
           {op.getFunctionAttr(), {}, {}, {}, {}}, into);
  return success();
}

template <> SmallVector<Value> reads<GateOp>(GateOp op, const Primal &) {
  return {op.getGate(), op.getUp()};
}
template <>
LogicalResult adjoint<GateOp>(GateOp op, OpBuilder &builder,
                              ValueRange gradients, Primal &primal,
                              Gradients &into) {
  activate(builder, op.getLoc(), gradients, primal.at(op.getGate()),
           primal.at(op.getUp()),
           {op.getFunctionAttr(), {}, {}, {}, op.getUpOffsetAttr()}, into);
  return success();
}

template <> SmallVector<Value> reads<SoftcapOp>(SoftcapOp op, const Primal &) {
  return {op.getInput()};
}
template <>
LogicalResult adjoint<SoftcapOp>(SoftcapOp op, OpBuilder &builder,
                                 ValueRange gradients, Primal &primal,
                                 Gradients &into) {
  activate(builder, op.getLoc(), gradients, primal.at(op.getInput()), Value(),
           {{}, op.getCapAttr(), {}, {}, {}}, into);
  return success();
}

template <> SmallVector<Value> reads<ClampOp>(ClampOp op, const Primal &) {
  return {op.getInput()};
}
template <>
LogicalResult adjoint<ClampOp>(ClampOp op, OpBuilder &builder,
                               ValueRange gradients, Primal &primal,
                               Gradients &into) {
  activate(builder, op.getLoc(), gradients, primal.at(op.getInput()), Value(),
           {{}, {}, op.getLowAttr(), op.getHighAttr(), {}}, into);
  return success();
}

template <> SmallVector<Value> reads<DropoutOp>(DropoutOp, const Primal &) {
  return {};
}
template <>
LogicalResult adjoint<DropoutOp>(DropoutOp op, OpBuilder &builder,
                                 ValueRange gradients, Primal &primal,
                                 Gradients &into) {
  into[0] = DropoutOp::create(builder, op.getLoc(), gradients.front(),
                              primal.at(op.getStep()), primal.at(op.getFirst()),
                              op.getRateAttr(), op.getSeedAttr(),
                              op.getSiteAttr(), op.getAfterAttr());
  return success();
}

template <> SmallVector<Value> reads<ConstantOp>(ConstantOp, const Primal &) {
  return {};
}
template <>
LogicalResult adjoint<ConstantOp>(ConstantOp op, OpBuilder &builder,
                                  ValueRange gradients, Primal &, Gradients &) {
  if (!isFixed(op, op.getValueAttr()))
    ConstantGradientOp::create(builder, op.getLoc(), gradients.front(),
                               op.getValueAttr());
  return success();
}

template <> SmallVector<Value> reads<PoolOp>(PoolOp op, const Primal &) {
  return {op.getInput()};
}
template <>
LogicalResult adjoint<PoolOp>(PoolOp op, OpBuilder &builder,
                              ValueRange gradients, Primal &primal,
                              Gradients &into) {
  auto at = [&](Value value) { return value ? primal.at(value) : Value(); };
  into[0] = PoolGradientOp::create(
      builder, op.getLoc(), op.getInput().getType(), gradients.front(),
      primal.at(op.getInput()), at(op.getKeyMask()), at(op.getIds()),
      op.getKindAttr(), op.getSkipAttr(), op.getIdAttr());
  return success();
}

template <>
SmallVector<Value> reads<GatherTokensOp>(GatherTokensOp, const Primal &) {
  return {};
}
// A part of the input gets the gradients of all parts of the result that it
// went to: a gather of the first of these, one of the second, and so on.
template <>
LogicalResult adjoint<GatherTokensOp>(GatherTokensOp op, OpBuilder &builder,
                                      ValueRange gradients, Primal &,
                                      Gradients &into) {
  const int64_t parts = op.getParts(),
                count = op.getInput().getType().getDimSize(1) * parts;
  SmallVector<SmallVector<int64_t>> from;
  SmallVector<size_t> uses(count);
  for (auto [place, part] : llvm::enumerate(op.getIndex())) {
    if (part < 0)
      continue;
    if (uses[part] == from.size())
      from.emplace_back(count, -1);
    from[uses[part]++][part] = int64_t(place);
  }
  if (from.empty()) // of zeros alone
    from.emplace_back(count, -1);
  for (ArrayRef<int64_t> index : from) {
    Value gathered =
        GatherTokensOp::create(builder, op.getLoc(), op.getInput().getType(),
                               gradients.front(), index, parts, op.getGroup());
    into[0] = into[0] ? AddOp::create(builder, op.getLoc(), into[0], gathered)
                      : gathered;
  }
  return success();
}

void attachRowAdjoints(MLIRContext *context) {
  attachAdjoints<AddOp, AffineOp, EmbedOp, NormOp, LinearOp, ActivateOp, GateOp,
                 SoftcapOp, ClampOp, DropoutOp, ConstantOp, PoolOp,
                 GatherTokensOp>(context);
}

} // namespace mille::differentiate

// Makes parameters that are computed from others, for passes that fold factors.
// Must not decide what to fold.
#include "compiler/rewrite/Derive.h"
#include "mlir/IR/Builders.h"

#include <cmath>

using namespace mlir;
using namespace mille::rewrite;
using namespace mille::transformer;

Derive::Derive(ModelOp model) : symbols(model) {}

// layers.0.attn.o.weight -> layers.0.attn.o_scaled.weight; w -> w_scaled
static std::string nameAfter(StringRef from, StringRef how) {
  auto [owner, last] = from.rsplit('.');
  std::string name = (owner + "_" + how).str();
  return last.empty() ? name : (name + "." + last).str();
}

FlatSymbolRefAttr Derive::parameter(FlatSymbolRefAttr from, StringRef how,
                                    Attribute value) {
  FlatSymbolRefAttr &symbol = known[value];
  if (symbol)
    return symbol;
  std::string why;
  FailureOr<RankedTensorType> type = valueType(
      value,
      [&](FlatSymbolRefAttr name) -> Attribute {
        auto parameter = symbols.lookup<ParameterOp>(name.getValue());
        return parameter ? parameter.getTypeAttr() : TypeAttr();
      },
      why);
  assert(succeeded(type) && "a fold keeps shapes");
  Operation *origin = symbols.lookup(from.getValue());
  OpBuilder builder(origin->getContext());
  builder.setInsertionPointAfter(origin);
  auto derived = ParameterOp::create(
      builder, origin->getLoc(), nameAfter(from.getValue(), how), *type, value,
      cast<ParameterOp>(origin).getDtypeAttr(), DenseI64ArrayAttr());
  derived->remove(); // insert() places it and finds a free name
  symbols.insert(derived, std::next(origin->getIterator()));
  symbol = FlatSymbolRefAttr::get(derived.getSymNameAttr());
  return symbol;
}

FlatSymbolRefAttr Derive::scaled(FlatSymbolRefAttr symbol, Attribute factor) {
  return parameter(symbol, "scaled",
                   TimesAttr::get(symbol.getContext(), symbol, factor));
}

Cost mille::rewrite::costOfCopy(LinearOp linear) {
  auto channels = [](Value rows) {
    return cast<ShapedType>(rows.getType()).getShape().back();
  };
  int64_t numbers = channels(linear.getInput()) * channels(linear.getResult());
  return {"another linear shares the weight without the factor",
          "numbers of weights", numbers, 2 * numbers};
}

WeightReaders::WeightReaders(ModelOp model) {
  model.walk([&](LinearOp linear) { ++counts[linear.getWeightAttr()]; });
}

void SameFactors::add(FlatSymbolRefAttr weight, Attribute factor) {
  Taken &now = taken[weight];
  now.differ |= now.count++ && now.factor != factor;
  now.factor = factor;
}

bool SameFactors::all(FlatSymbolRefAttr weight,
                      const WeightReaders &readers) const {
  Taken now = taken.lookup(weight);
  return !now.differ && now.count == readers.count(weight);
}

bool mille::rewrite::isPowerOfTwo(double value) {
  int exponent;
  return std::isfinite(value) && std::abs(std::frexp(value, &exponent)) == 0.5;
}

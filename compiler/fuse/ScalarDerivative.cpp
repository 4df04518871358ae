// Differentiates scalar SSA op by op: each value's derivative is made once.
// Must give no NaN where the formula and its derivative have a limit: an exp
// that overflows in a divisor is the case that matters.
#include "compiler/fuse/ScalarDerivative.h"

#include "compiler/fuse/Activations.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace {

class Derivative {
public:
  Derivative(OpBuilder &builder, Value by) : builder(builder), by(by) {}

  Value of(Value value) {
    if (value == by)
      return number(1);
    Operation *op = value.getDefiningOp();
    if (!op)
      return Value();
    auto [found, isNew] = known.try_emplace(value);
    if (!isNew)
      return found->second;
    SmallVector<Value> of;
    for (Value operand : op->getOperands()) {
      if (!isa<FloatType>(operand.getType())) { // a comparison: no slope
        of.push_back(Value());
        continue;
      }
      of.push_back(this->of(operand));
    }
    location = op->getLoc();
    const bool depends =
        llvm::any_of(of, [](Value each) { return bool(each); });
    return known[value] = depends ? chain(op, of) : Value();
  }

private:
  // Null values are zeros.
  Value number(double value) {
    return mille::constant(builder, location, value);
  }
  template <typename Op> Value make(ValueRange operands) {
    return Op::create(builder, location, operands);
  }
  Value times(Value a, Value b) {
    if (a && b && (isOne(a) || isOne(b)))
      return isOne(a) ? b : a;
    return a && b ? make<arith::MulFOp>({a, b}) : Value();
  }
  Value times(double a, Value b) { return b ? times(number(a), b) : Value(); }
  Value plus(Value a, Value b) {
    return a && b ? make<arith::AddFOp>({a, b}) : a ? a : b;
  }
  Value minus(Value a, Value b) {
    return a && b ? make<arith::SubFOp>({a, b}) : a ? a : times(-1, b);
  }
  Value over(Value a, Value b) {
    return a ? make<arith::DivFOp>({a, b}) : Value();
  }
  Value exp(Value a) { return make<math::ExpOp>({a}); }
  Value orZero(Value a) { return a ? a : number(0); }
  Value chosen(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, location, condition, orZero(a),
                                   orZero(b));
  }
  Value larger(Value a, Value b) {
    return arith::CmpFOp::create(builder, location, arith::CmpFPredicate::OGT,
                                 a, b);
  }

  static bool isOne(Value value) {
    auto constant = value.getDefiningOp<arith::ConstantOp>();
    auto real =
        constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
    return real && real.getValueAsDouble() == 1;
  }
  // The z of 1 + exp(z), or null.
  static Value exponentOf(Value value) {
    auto sum = value.getDefiningOp<arith::AddFOp>();
    if (!sum)
      return {};
    for (auto [one, other] :
         {std::pair{sum.getLhs(), sum.getRhs()}, {sum.getRhs(), sum.getLhs()}})
      if (auto exp = other.getDefiningOp<math::ExpOp>(); exp && isOne(one))
        return exp.getOperand();
    return {};
  }

  // a / b. Of b = 1 + exp(z) with s = 1 / b it is s (a' - a (1 - s) z'), which
  // has no product of 0 and infinity where exp overflows.
  Value quotient(arith::DivFOp op, ArrayRef<Value> of) {
    Value a = op.getLhs(), b = op.getRhs();
    Value z = exponentOf(b);
    if (!z || !of[1])
      return over(minus(of[0], times(op.getResult(), of[1])), b);
    Value slope = this->of(z);
    location = op.getLoc();
    Value share = over(number(1), b);
    Value rest = make<arith::SubFOp>({number(1), share});
    Value bent = times(times(times(a, share), rest), slope);
    return minus(times(of[0], share), bent);
  }

  Value chain(Operation *op, ArrayRef<Value> of) {
    constexpr double perSqrtPi = 1.1283791670955125739; // 2 / sqrt pi
    constexpr double logTwo = 0.69314718055994530942;
    Value y = op->getResult(0), x = op->getOperand(0),
          z = op->getNumOperands() > 1 ? op->getOperand(1) : Value();
    auto bell = [&] { return exp(times(-1, times(x, x))); };
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case([&](arith::AddFOp) -> Value { return plus(of[0], of[1]); })
        .Case([&](arith::SubFOp) -> Value { return minus(of[0], of[1]); })
        .Case([&](arith::NegFOp) -> Value { return times(-1, of[0]); })
        .Case([&](arith::MulFOp) -> Value {
          return plus(times(of[0], z), times(x, of[1]));
        })
        .Case([&](math::FmaOp) -> Value {
          return plus(plus(times(of[0], z), times(x, of[1])), of[2]);
        })
        .Case([&](arith::DivFOp quotientOp) -> Value {
          return quotient(quotientOp, of);
        })
        .Case<arith::MaximumFOp, arith::MaxNumFOp>(
            [&](auto) -> Value { return chosen(larger(x, z), of[0], of[1]); })
        .Case<arith::MinimumFOp, arith::MinNumFOp>(
            [&](auto) -> Value { return chosen(larger(z, x), of[0], of[1]); })
        .Case([&](arith::SelectOp) -> Value { return chosen(x, of[1], of[2]); })
        // -1 at 0: then log(1 + exp(-|x|)) + max(x, 0) has the right slope.
        .Case([&](math::AbsFOp) -> Value {
          return times(chosen(larger(x, number(0)), number(1), number(-1)),
                       of[0]);
        })
        .Case([&](math::ExpOp) -> Value { return times(y, of[0]); })
        .Case([&](math::Exp2Op) -> Value {
          return times(logTwo, times(y, of[0]));
        })
        .Case([&](math::LogOp) -> Value { return over(of[0], x); })
        .Case([&](math::TanhOp) -> Value {
          return times(minus(number(1), times(y, y)), of[0]);
        })
        .Case([&](math::ErfOp) -> Value {
          return times(perSqrtPi, times(bell(), of[0]));
        })
        .Case([&](math::ErfcOp) -> Value {
          return times(-perSqrtPi, times(bell(), of[0]));
        })
        .Case([&](math::SqrtOp) -> Value { return over(times(0.5, of[0]), y); })
        .Case([&](math::RsqrtOp) -> Value {
          return times(times(-0.5, over(y, x)), of[0]);
        })
        .Case([&](math::SinOp) -> Value {
          return times(make<math::CosOp>({x}), of[0]);
        })
        .Case([&](math::CosOp) -> Value {
          return times(times(-1, make<math::SinOp>({x})), of[0]);
        })
        .Default([](Operation *) -> Value {
          llvm_unreachable("all ops of ScalarOps.def are above");
        });
  }

  OpBuilder &builder;
  Value by;
  Location location = by.getLoc();
  llvm::DenseMap<Value, Value> known;
};

} // namespace

Value mille::derivativeOf(OpBuilder &builder, Value of, Value by) {
  return Derivative(builder, by).of(of);
}

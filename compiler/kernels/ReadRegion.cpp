// Reads a scalar region as a program. Must not know the op that holds it.
#include "compiler/kernels/ReadParts.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mille;

namespace {

std::optional<ScalarOp> scalarOf(Operation &op) {
  return llvm::TypeSwitch<Operation *, std::optional<ScalarOp>>(&op)
      .Case([](arith::AddFOp) { return ScalarOp::add; })
      .Case([](arith::SubFOp) { return ScalarOp::sub; })
      .Case([](arith::MulFOp) { return ScalarOp::mul; })
      .Case([](arith::DivFOp) { return ScalarOp::div; })
      .Case([](arith::NegFOp) { return ScalarOp::neg; })
      .Case([](arith::MaximumFOp) { return ScalarOp::maximum; })
      .Case([](arith::MinimumFOp) { return ScalarOp::minimum; })
      .Case([](arith::MaxNumFOp) { return ScalarOp::maxnum; })
      .Case([](arith::MinNumFOp) { return ScalarOp::minnum; })
      .Case([](arith::CmpFOp) { return ScalarOp::compare; })
      .Case([](arith::SelectOp) { return ScalarOp::select; })
      .Case([](math::ExpOp) { return ScalarOp::exp; })
      .Case([](math::Exp2Op) { return ScalarOp::exp2; })
      .Case([](math::TanhOp) { return ScalarOp::tanh; })
      .Case([](math::ErfOp) { return ScalarOp::erf; })
      .Case([](math::ErfcOp) { return ScalarOp::erfc; })
      .Case([](math::SqrtOp) { return ScalarOp::sqrt; })
      .Case([](math::RsqrtOp) { return ScalarOp::rsqrt; })
      .Case([](math::AbsFOp) { return ScalarOp::abs; })
      .Case([](math::LogOp) { return ScalarOp::log; })
      .Case([](math::SinOp) { return ScalarOp::sin; })
      .Case([](math::CosOp) { return ScalarOp::cos; })
      .Case([](math::FmaOp) { return ScalarOp::fma; })
      .Default([](Operation *) { return std::nullopt; });
}

class RegionReader {
public:
  RegionReader(Operation *op, ScalarProgram &program)
      : op(op), program(program) {}

  LogicalResult read(Region &region) {
    Block &block = region.front();
    for (BlockArgument argument : block.getArguments())
      numbers[argument] = program.arguments++;
    for (Operation &step : block.without_terminator())
      if (failed(readStep(step)))
        return failure();
    FailureOr<int> result = number(block.getTerminator()->getOperand(0));
    if (failed(result))
      return failure();
    program.result = *result;
    return success();
  }

private:
  int push(ScalarStep step) {
    program.steps.push_back(step);
    return program.arguments + int(program.steps.size()) - 1;
  }

  LogicalResult readConstant(arith::ConstantOp constant) {
    ScalarStep step{ScalarOp::constant};
    if (auto real = dyn_cast<FloatAttr>(constant.getValue()))
      step.value = real.getValueAsDouble();
    else
      return op->emitOpError("region holds the constant ")
             << constant.getValue() << " but constants must be f32";
    numbers[constant.getResult()] = push(step);
    return success();
  }

  // An earlier pass may have moved constants out of the region.
  FailureOr<int> number(Value value) {
    auto found = numbers.find(value);
    if (found != numbers.end())
      return found->second;
    auto constant = value.getDefiningOp<arith::ConstantOp>();
    if (!constant) {
      op->emitOpError("region reads a value of another region that is not a "
                      "constant");
      return failure();
    }
    if (failed(readConstant(constant)))
      return failure();
    return numbers[value];
  }

  LogicalResult readStep(Operation &inner) {
    if (auto constant = dyn_cast<arith::ConstantOp>(inner))
      return readConstant(constant);
    ScalarStep step{ScalarOp::constant};
    std::optional<ScalarOp> scalar = scalarOf(inner);
    if (!scalar)
      return op->emitOpError("region holds ")
             << inner.getName().getStringRef() << " but no kernel knows it";
    step.op = *scalar;
    if (auto compare = dyn_cast<arith::CmpFOp>(inner)) {
      auto comparison = comparisonOf(compare.getPredicate());
      if (!comparison)
        return op->emitOpError("region compares by ")
               << arith::stringifyCmpFPredicate(compare.getPredicate())
               << " but no kernel knows it";
      step.comparison = *comparison;
    }
    for (auto [i, operand] : llvm::enumerate(inner.getOperands())) {
      FailureOr<int> value = number(operand);
      if (failed(value))
        return failure();
      step.operands[i] = *value;
    }
    numbers[inner.getResult(0)] = push(step);
    return success();
  }

  static std::optional<Comparison>
  comparisonOf(arith::CmpFPredicate predicate) {
    using P = arith::CmpFPredicate;
    switch (predicate) {
    case P::OEQ:
    case P::UEQ:
      return Comparison::eq;
    case P::OGT:
    case P::UGT:
      return Comparison::gt;
    case P::OGE:
    case P::UGE:
      return Comparison::ge;
    case P::OLT:
    case P::ULT:
      return Comparison::lt;
    case P::OLE:
    case P::ULE:
      return Comparison::le;
    case P::ONE:
    case P::UNE:
      return Comparison::ne;
    default:
      return std::nullopt;
    }
  }

  Operation *op;
  ScalarProgram &program;
  llvm::DenseMap<Value, int> numbers;
};

} // namespace

LogicalResult mille::readRegion(Operation *op, Region &region,
                                ScalarProgram &program) {
  return RegionReader(op, program).read(region);
}

//===-- Ops ---------------------------------------------------------------===//

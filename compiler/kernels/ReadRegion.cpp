// Reads a scalar region as a program. Must not know the op that holds it.
#include "compiler/kernels/ReadParts.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mille;

namespace {

ScalarOp scalarOf(Operation &op) {
  return llvm::TypeSwitch<Operation *, ScalarOp>(&op)
#define MILLE_SCALAR_OP(name, op) .Case([](op) { return ScalarOp::name; })
#include "dialects/kernel/ScalarOps.def"
      .Case([](arith::CmpFOp) { return ScalarOp::compare; });
}

Comparison comparisonOf(arith::CmpFPredicate predicate) {
  switch (predicate) {
#define MILLE_SCALAR_COMPARISON(name, predicate)                               \
  case arith::CmpFPredicate::predicate:                                        \
    return Comparison::name;
#include "dialects/kernel/ScalarOps.def"
  default:
    llvm_unreachable("the verifier admits no other");
  }
}

// The verifier has seen to it that all in the region can be read.
class RegionReader {
public:
  explicit RegionReader(ScalarProgram &program) : program(program) {}

  void read(Region &region) {
    Block &block = region.front();
    for (BlockArgument argument : block.getArguments())
      numbers[argument] = program.arguments++;
    for (Operation &step : block.without_terminator())
      readStep(step);
    program.result = number(block.getTerminator()->getOperand(0));
  }

private:
  void push(Value value, ScalarStep step) {
    program.steps.push_back(step);
    numbers[value] = program.arguments + int(program.steps.size()) - 1;
  }

  void readConstant(arith::ConstantOp constant) {
    ScalarStep step{ScalarOp::constant};
    step.value = cast<FloatAttr>(constant.getValue()).getValueAsDouble();
    push(constant.getResult(), step);
  }

  // An earlier pass may have moved constants out of the region.
  int number(Value value) {
    if (!numbers.contains(value))
      readConstant(value.getDefiningOp<arith::ConstantOp>());
    return numbers[value];
  }

  void readStep(Operation &inner) {
    if (auto constant = dyn_cast<arith::ConstantOp>(inner))
      return readConstant(constant);
    ScalarStep step{scalarOf(inner)};
    if (auto compare = dyn_cast<arith::CmpFOp>(inner))
      step.comparison = comparisonOf(compare.getPredicate());
    for (auto [i, operand] : llvm::enumerate(inner.getOperands()))
      step.operands[i] = number(operand);
    push(inner.getResult(0), step);
  }

  ScalarProgram &program;
  llvm::DenseMap<Value, int> numbers;
};

} // namespace

void mille::readRegion(Region &region, ScalarProgram &program) {
  RegionReader(program).read(region);
}

//===-- Ops ---------------------------------------------------------------===//

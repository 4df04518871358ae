// Translates a scalar region once to steps, then runs these row by row.
// Must not round to f32, since this is the reference.
#include "compiler/interpret/ScalarRegion.h"
#include "dialects/kernel/Kernel.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;

namespace {

using Function = double (*)(double, double, double);

namespace scalar {
double add(double a, double b, double) { return a + b; }
double sub(double a, double b, double) { return a - b; }
double mul(double a, double b, double) { return a * b; }
double div(double a, double b, double) { return a / b; }
double neg(double a, double, double) { return -a; }
double maximum(double a, double b, double) {
  return std::isnan(a) || a > b ? a : b;
}
double minimum(double a, double b, double) {
  return std::isnan(a) || a < b ? a : b;
}
double maxnum(double a, double b, double) { return std::fmax(a, b); }
double minnum(double a, double b, double) { return std::fmin(a, b); }
double select(double c, double a, double b) { return c != 0 ? a : b; }
double exp(double a, double, double) { return std::exp(a); }
double exp2(double a, double, double) { return std::exp2(a); }
double tanh(double a, double, double) { return std::tanh(a); }
double erf(double a, double, double) { return std::erf(a); }
double erfc(double a, double, double) { return std::erfc(a); }
double sqrt(double a, double, double) { return std::sqrt(a); }
double rsqrt(double a, double, double) { return 1 / std::sqrt(a); }
double abs(double a, double, double) { return std::fabs(a); }
double log(double a, double, double) { return std::log(a); }
double sin(double a, double, double) { return std::sin(a); }
double cos(double a, double, double) { return std::cos(a); }
double fma(double a, double b, double c) { return a * b + c; }

double eq(double a, double b, double) { return a == b; }
double gt(double a, double b, double) { return a > b; }
double ge(double a, double b, double) { return a >= b; }
double lt(double a, double b, double) { return a < b; }
double le(double a, double b, double) { return a <= b; }
double ne(double a, double b, double) { return a != b; }
} // namespace scalar

Function comparisonOf(arith::CmpFPredicate predicate) {
  switch (predicate) {
#define MILLE_SCALAR_COMPARISON(name, predicate)                               \
  case arith::CmpFPredicate::predicate:                                        \
    return scalar::name;
#include "dialects/kernel/ScalarOps.def"
  default:
    llvm_unreachable("the verifier admits no other");
  }
}

// What an op computes from its operands.
Function functionOf(Operation &op) {
  return llvm::TypeSwitch<Operation *, Function>(&op)
#define MILLE_SCALAR_OP(name, op)                                              \
  .Case([](op) -> Function { return scalar::name; })
#include "dialects/kernel/ScalarOps.def"
      .Case([](arith::CmpFOp compare) {
        return comparisonOf(compare.getPredicate());
      });
}

} // namespace

int ScalarRegion::push(Step step) {
  steps.push_back(step);
  return arguments + steps.size() - 1;
}

void ScalarRegion::read(Region &region) {
  Block &block = region.front();
  llvm::DenseMap<mlir::Value, int> numbers;
  for (BlockArgument argument : block.getArguments())
    numbers[argument] = arguments++;
  auto pushConstant = [&](arith::ConstantOp constant) {
    return push({nullptr,
                 {0, 0, 0},
                 cast<FloatAttr>(constant.getValue()).getValueAsDouble()});
  };
  // An earlier pass may have moved constants out of the region.
  auto number = [&](mlir::Value value) {
    if (!numbers.contains(value))
      numbers[value] = pushConstant(value.getDefiningOp<arith::ConstantOp>());
    return numbers[value];
  };
  for (Operation &op : block.without_terminator()) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      numbers[constant.getResult()] = pushConstant(constant);
      continue;
    }
    Step step = {functionOf(op), {0, 0, 0}, 0};
    for (auto [i, operand] : llvm::enumerate(op.getOperands()))
      step.operands[i] = number(operand);
    numbers[op.getResult(0)] = push(step);
  }
  yielded = number(block.getTerminator()->getOperand(0));
  rows.resize(steps.size());
}

void ScalarRegion::run(const std::vector<const double *> &inputs,
                       int64_t columns, double *out) {
  auto row = [&](int number) {
    return number < arguments ? inputs[number]
                              : rows[number - arguments].data();
  };
  for (auto [i, step] : llvm::enumerate(steps)) {
    rows[i].resize(columns);
    if (!step.function) {
      std::fill(rows[i].begin(), rows[i].end(), step.constant);
      continue;
    }
    const double *a = row(step.operands[0]), *b = row(step.operands[1]),
                 *c = row(step.operands[2]);
    for (int64_t n = 0; n < columns; ++n)
      rows[i][n] = step.function(a[n], b[n], c[n]);
  }
  std::copy_n(row(yielded), columns, out);
}

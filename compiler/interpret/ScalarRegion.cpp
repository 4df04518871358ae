// Translates a scalar region once to steps, then runs these row by row.
// Must not round to f32, since this is the reference.
#include "compiler/interpret/ScalarRegion.h"
#include "dialects/kernel/Kernel.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mille;
using namespace mille::interpreter;

namespace {

using Function = double (*)(double, double, double);

// What an op computes from its operands; null where it has no meaning here.
Function functionOf(Operation &op) {
  using F = Function;
  return llvm::StringSwitch<F>(op.getName().getStringRef())
      .Case("arith.addf", F([](double a, double b, double) { return a + b; }))
      .Case("arith.subf", F([](double a, double b, double) { return a - b; }))
      .Case("arith.mulf", F([](double a, double b, double) { return a * b; }))
      .Case("arith.divf", F([](double a, double b, double) { return a / b; }))
      .Case("arith.negf", F([](double a, double, double) { return -a; }))
      .Cases({"arith.maximumf", "arith.maxnumf"},
             F([](double a, double b, double) { return std::fmax(a, b); }))
      .Cases({"arith.minimumf", "arith.minnumf"},
             F([](double a, double b, double) { return std::fmin(a, b); }))
      .Case("arith.select",
            F([](double c, double a, double b) { return c != 0 ? a : b; }))
      .Cases({"arith.extf", "arith.truncf"},
             F([](double a, double, double) { return a; }))
      .Case("math.fma",
            F([](double a, double b, double c) { return a * b + c; }))
      .Case("math.absf",
            F([](double a, double, double) { return std::fabs(a); }))
      .Case("math.exp", F([](double a, double, double) { return std::exp(a); }))
      .Case("math.exp2",
            F([](double a, double, double) { return std::exp2(a); }))
      .Case("math.log", F([](double a, double, double) { return std::log(a); }))
      .Case("math.tanh",
            F([](double a, double, double) { return std::tanh(a); }))
      .Case("math.erf", F([](double a, double, double) { return std::erf(a); }))
      .Case("math.erfc",
            F([](double a, double, double) { return std::erfc(a); }))
      .Case("math.sqrt",
            F([](double a, double, double) { return std::sqrt(a); }))
      .Case("math.rsqrt",
            F([](double a, double, double) { return 1 / std::sqrt(a); }))
      .Case("math.sin", F([](double a, double, double) { return std::sin(a); }))
      .Case("math.cos", F([](double a, double, double) { return std::cos(a); }))
      .Case("math.powf",
            F([](double a, double b, double) { return std::pow(a, b); }))
      .Default(nullptr);
}

Function comparison(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  using F = Function;
  switch (predicate) {
  case P::OGT:
  case P::UGT:
    return F([](double a, double b, double) { return double(a > b); });
  case P::OGE:
  case P::UGE:
    return F([](double a, double b, double) { return double(a >= b); });
  case P::OLT:
  case P::ULT:
    return F([](double a, double b, double) { return double(a < b); });
  case P::OLE:
  case P::ULE:
    return F([](double a, double b, double) { return double(a <= b); });
  case P::OEQ:
  case P::UEQ:
    return F([](double a, double b, double) { return double(a == b); });
  case P::ONE:
  case P::UNE:
    return F([](double a, double b, double) { return double(a != b); });
  default:
    return nullptr;
  }
}

} // namespace

Status ScalarRegion::read(Region &region) {
  Block &block = region.front();
  llvm::DenseMap<mlir::Value, int> numbers;
  for (BlockArgument argument : block.getArguments())
    numbers[argument] = arguments++;
  for (Operation &op : block.without_terminator()) {
    Step step = {nullptr, {0, 0, 0}, 0};
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
        step.constant = number.getValueAsDouble();
      else if (auto word = dyn_cast<IntegerAttr>(constant.getValue()))
        step.constant = word.getValue().getBoolValue();
    } else {
      auto compare = dyn_cast<arith::CmpFOp>(op);
      step.function =
          compare ? comparison(compare.getPredicate()) : functionOf(op);
      bool known = step.function && op.getNumOperands() <= 3;
      for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
        known &= numbers.contains(operand);
        if (known)
          step.operands[i] = numbers.lookup(operand);
      }
      if (!known) {
        op.emitError() << "op '" << op.getName()
                       << "' has no meaning in a scalar region";
        return Status::bug;
      }
    }
    numbers[op.getResult(0)] = arguments + steps.size();
    steps.push_back(step);
  }
  yielded = numbers.lookup(block.getTerminator()->getOperand(0));
  rows.resize(steps.size());
  return Status::done;
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

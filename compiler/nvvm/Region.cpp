// Each step of a scalar program as instructions. Must not choose tiles.
#include "compiler/nvvm/Region.h"

#include "llvm/Support/ErrorHandling.h"

#include <cmath>

namespace mille::nvvm {

Region::Region(Builder &builder, const ScalarProgram &program, bool toBf16)
    : b(builder), program(program), toBf16(toBf16),
      reads(program.arguments + program.steps.size()) {
  for (const ScalarStep &step : program.steps)
    for (int operand : step.operands)
      if (operand >= 0)
        ++reads[operand];
  ++reads[program.result];
}

const ScalarStep *Region::onlyProduct(int value) const {
  if (value < program.arguments || reads[value] != 1)
    return nullptr;
  const ScalarStep &step = program.steps[value - program.arguments];
  return step.op == ScalarOp::mul ? &step : nullptr;
}

Reg Region::apply(llvm::ArrayRef<Reg> arguments) {
  Regs values(arguments.begin(), arguments.end());
  for (const ScalarStep &one : program.steps)
    values.push_back(step(one, values));
  return values[program.result];
}

// A sum or difference, with the product of one side inside of an fma.
Reg Region::fused(const ScalarStep &s, llvm::ArrayRef<Reg> values) {
  const bool minus = s.op == ScalarOp::sub;
  const int left = s.operands[0], right = s.operands[1];
  if (const ScalarStep *product = onlyProduct(left)) {
    Reg other = values[right];
    return b.fma(values[product->operands[0]], values[product->operands[1]],
                 minus ? b.negative(other) : other);
  }
  if (const ScalarStep *product = onlyProduct(right)) {
    Reg factor = values[product->operands[0]];
    return b.fma(minus ? b.negative(factor) : factor,
                 values[product->operands[1]], values[left]);
  }
  return minus ? values[left] - values[right] : values[left] + values[right];
}

Reg Region::comparison(const ScalarStep &s, llvm::ArrayRef<Reg> values) {
  Reg left = values[s.operands[0]], right = values[s.operands[1]];
  switch (s.comparison) {
  case Comparison::eq:
    return eq(left, right);
  case Comparison::gt:
    return gt(left, right);
  case Comparison::ge:
    return ge(left, right);
  case Comparison::lt:
    return lt(left, right);
  case Comparison::le:
    return le(left, right);
  case Comparison::ne:
    return ne(left, right);
  }
  llvm_unreachable("all comparisons are above");
}

Reg Region::exponential(Reg x) { return b.exp2(x * log2e); }

// 1 - 2 / (e^2x + 1): right at both ends, where e^2x is 0 or infinite.
Reg Region::tanhOf(Reg x) {
  if (toBf16)
    return b.tanh(x);
  Reg e = b.exp2(x * (2 * log2e));
  return b.fma(b.reciprocal(e + 1.0), -2.0, 1.0);
}

// Abramowitz and Stegun 7.1.26.
Reg Region::complementOfErf(Reg z) {
  Reg t = b.reciprocal(b.fma(z, 0.3275911, 1.0));
  Reg p = b.fma(t, 1.061405429, -1.453152027);
  for (double c : {1.421413741, -0.284496736, 0.254829592})
    p = b.fma(p, t, c);
  return p * t * b.exp2(z * z * -log2e);
}

Reg Region::erfOf(Reg z) {
  Reg word = b.bits(z, b.i32());
  Reg size = b.real(1.0) - complementOfErf(b.absolute(z));
  Reg sign = word & int64_t(0x80000000);
  return b.bits(b.bits(size, b.i32()) | sign, b.f32());
}

Reg Region::erfcOf(Reg z) {
  Reg rest = complementOfErf(b.absolute(z));
  return b.select(lt(z, 0.0), b.real(2.0) - rest, rest);
}

Reg Region::step(const ScalarStep &s, llvm::ArrayRef<Reg> values) {
  Reg x = s.operands[0] < 0 ? Reg() : values[s.operands[0]];
  Reg y = s.operands[1] < 0 ? Reg() : values[s.operands[1]];
  Reg z = s.operands[2] < 0 ? Reg() : values[s.operands[2]];
  switch (s.op) {
  case ScalarOp::constant:
    return b.real(s.value);
  case ScalarOp::add:
  case ScalarOp::sub:
    return fused(s, values);
  case ScalarOp::mul:
    return x * y;
  case ScalarOp::div:
    return x * b.reciprocal(y);
  case ScalarOp::neg:
    return b.negative(x);
  case ScalarOp::maximum:
    return b.maximum(x, y);
  case ScalarOp::minimum:
    return b.minimum(x, y);
  case ScalarOp::maxnum:
    return b.maxnum(x, y);
  case ScalarOp::minnum:
    return b.minnum(x, y);
  case ScalarOp::compare:
    return comparison(s, values);
  case ScalarOp::select:
    return b.select(x, y, z);
  case ScalarOp::exp:
    return exponential(x);
  case ScalarOp::exp2:
    return b.exp2(x);
  case ScalarOp::tanh:
    return tanhOf(x);
  case ScalarOp::erf:
    return erfOf(x);
  case ScalarOp::erfc:
    return erfcOf(x);
  case ScalarOp::sqrt:
    return b.sqrt(x);
  case ScalarOp::rsqrt:
    return b.rsqrt(x);
  case ScalarOp::abs:
    return b.absolute(x);
  case ScalarOp::log:
    return b.log2(x) * ln2;
  case ScalarOp::fma:
    return b.fma(x, y, z);
  case ScalarOp::sin:
  case ScalarOp::cos:
    break; // whyNoRegion
  }
  llvm_unreachable("whyNoRegion refuses all other steps");
}

std::string whyNoRegion(const ScalarProgram &program) {
  for (const ScalarStep &step : program.steps)
    if (step.op == ScalarOp::sin || step.op == ScalarOp::cos)
      return "its region has a sine or cosine, whose units are exact near 0 "
             "only";
  return "";
}

unsigned instructionsOf(const ScalarProgram &program) {
  unsigned count = 0;
  for (const ScalarStep &step : program.steps)
    switch (step.op) {
    case ScalarOp::constant:
      break;
    case ScalarOp::erf:
    case ScalarOp::erfc:
      count += 15;
      break;
    case ScalarOp::tanh:
      count += 4;
      break;
    case ScalarOp::exp:
    case ScalarOp::div:
    case ScalarOp::log:
      count += 2;
      break;
    default:
      count += 1;
    }
  return count;
}

} // namespace mille::nvvm

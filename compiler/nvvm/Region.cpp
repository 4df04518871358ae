// Each step of a scalar program as instructions. Must not choose tiles.
#include "compiler/nvvm/Region.h"

#include "llvm/Support/ErrorHandling.h"

#include <cmath>

namespace mille::nvvm {

Region::Region(Builder &builder, const ScalarProgram &program, bool toBf16)
    : b(builder), program(program), formulas(program), toBf16(toBf16),
      reads(program.arguments + program.steps.size()) {
  ++reads[program.result];
  for (size_t i = program.steps.size(); i-- > 0;)
    if (reads[program.arguments + i])
      for (int operand : operandsOf(program.steps[i]))
        if (operand >= 0)
          ++reads[operand];
}

// A formula's are those of its function: its steps are not computed.
std::array<int, 3> Region::operandsOf(const ScalarStep &s) const {
  for (int x : {formulas.geluOf(s), formulas.geluSlopeOf(s)})
    if (x >= 0)
      return {x, -1, -1};
  return {s.operands[0], s.operands[1], s.operands[2]};
}

const ScalarStep *Region::onlyProduct(int value) const {
  if (value < program.arguments || reads[value] != 1)
    return nullptr;
  const ScalarStep &step = program.steps[value - program.arguments];
  const bool isFormula =
      formulas.geluOf(step) >= 0 || formulas.geluSlopeOf(step) >= 0;
  return step.op == ScalarOp::mul && !isFormula ? &step : nullptr;
}

Reg Region::apply(llvm::ArrayRef<Reg> arguments) {
  Regs values(arguments.begin(), arguments.end());
  for (const ScalarStep &one : program.steps)
    values.push_back(reads[values.size()] ? step(one, values) : Reg());
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
Reg Region::tailOf(Reg size, double scale, double part) {
  Reg t = b.reciprocal(b.fma(size, 0.3275911 * scale, 1.0));
  Reg p = b.fma(t, 1.061405429 * part, -1.453152027 * part);
  for (double c : {1.421413741, -0.284496736, 0.254829592})
    p = b.fma(p, t, c * part);
  return p * t * b.exp2(size * size * (-log2e * scale * scale));
}

Reg Region::erfOf(Reg z) {
  Reg word = b.bits(z, b.i32());
  Reg size = b.real(1.0) - tailOf(b.absolute(z));
  Reg sign = word & int64_t(0x80000000);
  return b.bits(b.bits(size, b.i32()) | sign, b.f32());
}

Reg Region::erfcOf(Reg z) {
  Reg rest = tailOf(b.absolute(z));
  return b.select(lt(z, 0.0), b.real(2.0) - rest, rest);
}

// The normal distribution is 0 from here on, and must not meet an infinity.
constexpr double endOfTail = 14;
constexpr double sqrtHalf = 0.70710678118654752;

// x Phi(x) = max(x, 0) - |x| Phi(-|x|).
Reg Region::geluOf(Reg x) {
  Reg size = b.minnum(b.absolute(x), endOfTail);
  return b.fma(b.negative(size), tailOf(size, sqrtHalf, 0.5),
               b.maximum(x, 0.0));
}

// Phi(x) + x phi(x).
Reg Region::geluSlopeOf(Reg x) {
  constexpr double perSqrtTwoPi = 0.39894228040143268;
  Reg near = b.minimum(b.maximum(x, -endOfTail), endOfTail);
  Reg tail = tailOf(b.absolute(near), sqrtHalf, 0.5);
  Reg share = b.select(lt(x, 0.0), tail, b.real(1.0) - tail);
  Reg bell = b.exp2(near * near * (-0.5 * log2e)) * perSqrtTwoPi;
  return b.fma(near, bell, share);
}

Reg Region::step(const ScalarStep &s, llvm::ArrayRef<Reg> values) {
  if (int at = formulas.geluOf(s); at >= 0)
    return geluOf(values[at]);
  if (int at = formulas.geluSlopeOf(s); at >= 0)
    return geluSlopeOf(values[at]);
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

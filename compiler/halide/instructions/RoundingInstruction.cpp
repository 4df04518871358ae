// Finds the pattern of a rounding in LLVM's module.
// Must find what Elements.cpp writes: a test looks for the instruction in the
// objects.
#include "compiler/halide/instructions/RoundingInstruction.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

// |x| > infinity, as integers.
bool isNan(Value *condition, Value *bits) {
  Value *magnitude;
  if (!match(condition, m_SpecificICmp(ICmpInst::ICMP_UGT, m_Value(magnitude),
                                       m_SpecificInt(0x7f800000))))
    return false;
  Value *x;
  return match(magnitude, m_And(m_Specific(bits), m_SpecificInt(0x7fffffff))) ||
         (match(bits, m_BitCast(m_Value(x))) &&
          match(magnitude, m_BitCast(m_FAbs(m_Specific(x)))));
}

// bits + 0x7fff, or 0x8000 where bit 16 is one.
bool isRoundedUp(Value *sum, Value *bits) {
  auto even = m_SpecificICmp(ICmpInst::ICMP_EQ,
                             m_And(m_Specific(bits), m_SpecificInt(0x10000)),
                             m_ZeroInt());
  return match(sum,
               m_c_Add(m_Specific(bits), m_Select(even, m_SpecificInt(0x7fff),
                                                  m_SpecificInt(0x8000))));
}

// The bits of the number of which `kept` is the rounded word; or null.
Value *roundedWord(Value *kept) {
  Value *condition, *quiet, *sum, *bits;
  if (!match(kept,
             m_Select(m_Value(condition), m_Value(quiet), m_Value(sum))) ||
      !match(quiet, m_c_Or(m_Value(bits), m_SpecificInt(0x400000))))
    return nullptr;
  const bool wide = bits->getType()->getScalarType()->isIntegerTy(32);
  return wide && isNan(condition, bits) && isRoundedUp(sum, bits) ? bits
                                                                  : nullptr;
}

// The bits of the number whose upper half, rounded, `half` is; or null.
Value *roundedBy(Value *half) {
  Value *kept;
  return match(half, m_Trunc(m_LShr(m_Value(kept), m_SpecificInt(16)))) &&
                 half->getType()->getScalarType()->isIntegerTy(16)
             ? roundedWord(kept)
             : nullptr;
}

// The bits of the numbers whose upper halves, rounded, are the lower and the
// upper half of `word`; or null.
std::pair<Value *, Value *> roundedPair(Value *word) {
  Value *lower, *upper;
  if (!isa<FixedVectorType>(word->getType()) ||
      !match(word, m_c_Or(m_LShr(m_Value(lower), m_SpecificInt(16)),
                          m_And(m_Value(upper), m_SpecificInt(0xffff0000)))))
    return {};
  return {roundedWord(lower), roundedWord(upper)};
}

// The numbers with these bits, rounded by the instruction.
Value *narrowed(IRBuilder<> &builder, Value *bits) {
  Type *type = bits->getType();
  Value *x =
      builder.CreateBitCast(bits, type->getWithNewType(builder.getFloatTy()));
  return builder.CreateFPTrunc(x, type->getWithNewType(builder.getBFloatTy()));
}

// One vector with the numbers of both by turns, a lower one first.
Value *pairs(IRBuilder<> &builder, Value *lower, Value *upper) {
  const int lanes =
      int(cast<FixedVectorType>(lower->getType())->getNumElements());
  SmallVector<int> order;
  for (int lane = 0; lane < lanes; ++lane)
    order.append({lane, lanes + lane});
  return builder.CreateShuffleVector(lower, upper, order);
}

} // namespace

void mille::roundByInstruction(Module &module) {
  for (Function &function : module) {
    SmallVector<std::pair<Instruction *, std::pair<Value *, Value *>>> found;
    for (Instruction &one : instructions(function))
      if (Value *bits = roundedBy(&one))
        found.push_back({&one, {bits, nullptr}});
      else if (auto both = roundedPair(&one); both.first && both.second)
        found.push_back({&one, both});
    for (auto [one, bits] : found) {
      IRBuilder<> builder(one);
      Value *narrow = narrowed(builder, bits.first);
      if (bits.second)
        narrow = pairs(builder, narrow, narrowed(builder, bits.second));
      one->replaceAllUsesWith(builder.CreateBitCast(narrow, one->getType()));
      RecursivelyDeleteTriviallyDeadInstructions(one);
    }
  }
}

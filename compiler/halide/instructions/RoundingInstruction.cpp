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

// The bits of the number whose upper half, rounded, `half` is; or null.
Value *roundedBy(Value *half) {
  Value *condition, *quiet, *sum, *bits;
  if (!match(half, m_Trunc(m_LShr(m_Select(m_Value(condition), m_Value(quiet),
                                           m_Value(sum)),
                                  m_SpecificInt(16)))) ||
      !half->getType()->getScalarType()->isIntegerTy(16) ||
      !match(quiet, m_c_Or(m_Value(bits), m_SpecificInt(0x400000))))
    return nullptr;
  const bool wide = bits->getType()->getScalarType()->isIntegerTy(32);
  return wide && isNan(condition, bits) && isRoundedUp(sum, bits) ? bits
                                                                  : nullptr;
}

} // namespace

void mille::roundByInstruction(Module &module) {
  for (Function &function : module) {
    SmallVector<std::pair<Instruction *, Value *>> found;
    for (Instruction &half : instructions(function))
      if (Value *bits = roundedBy(&half))
        found.push_back({&half, bits});
    for (auto [half, bits] : found) {
      IRBuilder<> builder(half);
      Type *type = bits->getType();
      Value *x = builder.CreateBitCast(
          bits, type->getWithNewType(builder.getFloatTy()));
      Value *narrow =
          builder.CreateFPTrunc(x, type->getWithNewType(builder.getBFloatTy()));
      half->replaceAllUsesWith(builder.CreateBitCast(narrow, half->getType()));
      RecursivelyDeleteTriviallyDeadInstructions(half);
    }
  }
}

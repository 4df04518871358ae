// Halide does not know the instruction and makes a call for each lane. Calls
// that LLVM's optimizer left as the lanes of one vector become one instruction.
// Must replace a call of a single lane too: a vector that is not recognised is
// slower, but not wrong.
#include "compiler/halide/instructions/PickInstruction.h"

#include "compiler/halide/instructions/Placeholders.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

namespace {

constexpr const char *pickName = "mille_pick";
constexpr unsigned lanes = std::tuple_size<mille::Sixteen>();

} // namespace

Halide::Expr mille::pickOf(const Sixteen &numbers, const Halide::Expr &index) {
  using Halide::Internal::Call;
  std::vector<Halide::Expr> arguments{index};
  for (float number : numbers)
    arguments.push_back(number);
  return Call::make(Halide::Float(32), pickName, arguments, Call::PureExtern);
}

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

Value *numbersOf(const CallInst &call) {
  SmallVector<Constant *> numbers;
  for (unsigned i = 0; i < lanes; ++i)
    numbers.push_back(cast<Constant>(call.getArgOperand(1 + i)));
  return ConstantVector::get(numbers);
}

Value *picked(IRBuilderBase &builder, const CallInst &call, Value *indices) {
  return builder.CreateIntrinsic(Intrinsic::x86_avx512_permvar_sf_512, {},
                                 {numbersOf(call), indices});
}

// Whether `lane` of a vector is the call's index.
bool isIndex(const CallInst &call, Value *&indices, uint64_t lane) {
  Value *from;
  if (!match(call.getArgOperand(0),
             m_ExtractElt(m_Value(from), m_SpecificInt(lane))) ||
      (indices && from != indices))
    return false;
  indices = from;
  return true;
}

// The vector of indices of all lanes of the vector that ends in `last`, or
// null.
Value *indicesOf(InsertElementInst &last, const CallInst &call) {
  Value *vector = &last, *indices = nullptr;
  for (unsigned lane = lanes; lane-- > 0;) {
    Value *before, *of;
    if (!match(vector,
               m_InsertElt(m_Value(before), m_Value(of), m_SpecificInt(lane))))
      return nullptr;
    auto *same = dyn_cast<CallInst>(of);
    if (!same || same->getCalledOperand() != call.getCalledOperand() ||
        !std::equal(call.arg_begin() + 1, call.arg_end(),
                    same->arg_begin() + 1) ||
        !isIndex(*same, indices, lane))
      return nullptr;
    vector = before;
  }
  auto *type = dyn_cast<FixedVectorType>(indices->getType());
  return type && type->getNumElements() == lanes ? indices : nullptr;
}

// Replaces the calls that make a vector, by the call that makes its last lane.
void pickVectors(Function &placeholder) {
  SmallVector<InsertElementInst *> found;
  for (User *call : placeholder.users())
    for (User *user : call->users())
      if (match(user, m_InsertElt(m_Value(), m_Specific(call),
                                  m_SpecificInt(lanes - 1))))
        found.push_back(cast<InsertElementInst>(user));
  for (InsertElementInst *last : found) {
    auto *call = cast<CallInst>(last->getOperand(1));
    Value *indices = indicesOf(*last, *call);
    if (!indices)
      continue;
    IRBuilder<> builder(last);
    last->replaceAllUsesWith(picked(builder, *call, indices));
    RecursivelyDeleteTriviallyDeadInstructions(last);
  }
}

} // namespace

void mille::pickByInstruction(Module &module) {
  if (Function *placeholder = module.getFunction(pickName))
    pickVectors(*placeholder);
  replaceCalls(module, pickName, [](CallInst &call) {
    IRBuilder<> builder(&call);
    Value *indices = builder.CreateVectorSplat(lanes, call.getArgOperand(0));
    call.replaceAllUsesWith(builder.CreateExtractElement(
        picked(builder, call, indices), uint64_t(0)));
    call.eraseFromParent();
  });
}

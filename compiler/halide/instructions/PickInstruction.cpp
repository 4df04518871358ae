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

#include <numeric>

namespace {

constexpr const char *pickName = "mille_pick",
                     *pickByteName = "mille_pick_byte";
constexpr unsigned sixteen = 16;

template <typename Numbers>
Halide::Expr callOf(const char *name, Halide::Type type, const Numbers &numbers,
                    const Halide::Expr &index) {
  using Halide::Internal::Call;
  std::vector<Halide::Expr> arguments{index};
  for (auto number : numbers)
    arguments.push_back(Halide::Internal::make_const(type, number));
  return Call::make(type, name, arguments, Call::PureExtern);
}

} // namespace

Halide::Expr mille::pickOf(const Sixteen &numbers, const Halide::Expr &index) {
  return callOf(pickName, Halide::Float(32), numbers, index);
}

Halide::Expr mille::pickOf(const SixteenBytes &bytes,
                           const Halide::Expr &index) {
  return callOf(pickByteName, Halide::UInt(8), bytes, index);
}

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

unsigned lanesOf(Value *vector) {
  return cast<FixedVectorType>(vector->getType())->getNumElements();
}

// What is picked from, as often as it fits in so many lanes: an instruction
// permutes bytes within each 16.
Value *numbersOf(const CallInst &call, unsigned lanes) {
  SmallVector<Constant *> numbers;
  for (unsigned i = 0; i < lanes; ++i)
    numbers.push_back(cast<Constant>(call.getArgOperand(1 + i % sixteen)));
  return ConstantVector::get(numbers);
}

class Pick {
public:
  Pick(const CallInst &call, bool wide)
      : call(call), ofBytes(call.getType()->isIntegerTy()), wide(wide) {}

  bool takes(unsigned lanes) const {
    return lanes == sixteen || (ofBytes && (lanes == 32 || lanes == 64));
  }
  Value *operator()(IRBuilderBase &builder, Value *indices) const {
    const unsigned lanes = lanesOf(indices);
    if (lanes == 64 && !wide)
      return halves(builder, indices);
    const Intrinsic::ID by = !ofBytes ? Intrinsic::x86_avx512_permvar_sf_512
                             : lanes == 64 ? Intrinsic::x86_avx512_pshuf_b_512
                             : lanes == 32 ? Intrinsic::x86_avx2_pshuf_b
                                           : Intrinsic::x86_ssse3_pshuf_b_128;
    return builder.CreateIntrinsic(by, {}, {numbersOf(call, lanes), indices});
  }

private:
  Value *halves(IRBuilderBase &builder, Value *indices) const {
    SmallVector<int> all(64);
    std::iota(all.begin(), all.end(), 0);
    const ArrayRef<int> lanes(all);
    Value *low = builder.CreateShuffleVector(indices, lanes.take_front(32)),
          *high = builder.CreateShuffleVector(indices, lanes.drop_front(32));
    return builder.CreateShuffleVector((*this)(builder, low),
                                       (*this)(builder, high), lanes);
  }

  const CallInst &call;
  const bool ofBytes, wide;
};

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
  const unsigned lanes = lanesOf(vector);
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
  return lanesOf(indices) == lanes ? indices : nullptr;
}

// Replaces the calls that make a vector, by the call that makes its last lane.
void pickVectors(Function &placeholder, bool wide) {
  SmallVector<InsertElementInst *> found;
  for (User *call : placeholder.users())
    for (User *user : call->users()) {
      auto *last = dyn_cast<InsertElementInst>(user);
      if (last && last->getOperand(1) == call &&
          match(last->getOperand(2), m_SpecificInt(lanesOf(last) - 1)))
        found.push_back(last);
    }
  for (InsertElementInst *last : found) {
    auto *call = cast<CallInst>(last->getOperand(1));
    const Pick pick(*call, wide);
    Value *indices =
        pick.takes(lanesOf(last)) ? indicesOf(*last, *call) : nullptr;
    if (!indices)
      continue;
    IRBuilder<> builder(last);
    last->replaceAllUsesWith(pick(builder, indices));
    RecursivelyDeleteTriviallyDeadInstructions(last);
  }
}

} // namespace

void mille::pickByInstruction(Module &module, bool wide) {
  for (const char *name : {pickName, pickByteName}) {
    if (Function *placeholder = module.getFunction(name))
      pickVectors(*placeholder, wide);
    replaceCalls(module, name, [&](CallInst &call) {
      IRBuilder<> builder(&call);
      Value *indices =
          builder.CreateVectorSplat(sixteen, call.getArgOperand(0));
      call.replaceAllUsesWith(builder.CreateExtractElement(
          Pick(call, wide)(builder, indices), uint64_t(0)));
      call.eraseFromParent();
    });
  }
}

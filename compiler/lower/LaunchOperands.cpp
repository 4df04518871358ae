// Reads the operands of kernel ops on memrefs.
// Must not emit code.
#include "compiler/lower/LaunchOperands.h"
#include "dialects/kernel/Backward.h"
#include "dialects/kernel/Joined.h"
#include "dialects/kernel/RowSpace.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mille;
using namespace mille::kernel;

bool mille::lower::isMemref(Value value) {
  return isa<MemRefType>(value.getType());
}

// The kernels of one launch: those of a `launch`, or a single op.
SmallVector<Operation *> mille::lower::kernelsOf(Operation &op) {
  SmallVector<Operation *> kernels;
  if (isLeader(&op))
    kernels.push_back(&op);
  if (auto launch = dyn_cast<LaunchOp>(op))
    for (Operation &inner : launch.getBody().front())
      if (isLeader(&inner))
        kernels.push_back(&inner);
  return kernels;
}

// The rows of the out in one sequence; null where a kernel works on rows.
Value mille::lower::sequenceRows(Operation *kernel) {
  if (auto attention = dyn_cast<AttentionOp>(kernel))
    return attention.getQueries();
  if (auto attention = dyn_cast<LinearAttentionOp>(kernel))
    return attention.getTokens();
  if (auto backward = dyn_cast<AttentionBackwardOp>(kernel))
    return backward.getQueries();
  return Value();
}

Value mille::lower::startsOf(Operation *kernel) {
  return llvm::TypeSwitch<Operation *, Value>(kernel)
      .Case<MatmulOp, WeightGradientOp, PackOp>(
          [](auto op) { return op.getStarts(); })
      .Default(Value());
}

Value mille::lower::pastOf(Operation *kernel) {
  auto attention = dyn_cast<AttentionOp>(kernel);
  return attention ? attention.getPast() : Value();
}

int64_t mille::lower::entriesOf(Value starts) {
  return cast<MemRefType>(starts.getType()).getDimSize(0) - 1;
}

int64_t mille::lower::stackOf(Operation *kernel) {
  auto matmul = dyn_cast<MatmulOp>(kernel);
  Value starts = startsOf(kernel);
  return starts ? entriesOf(starts) : matmul ? int64_t(matmul.getHeads()) : 0;
}

// Whether an operand has an entry for each expert, or head.
bool mille::lower::isStacked(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (isa<WeightGradientOp, PackOp>(op))
    return startsOf(op) && operand.get() != startsOf(op) &&
           (isa<PackOp>(op) || operand.get() == outOf(op));
  auto matmul = dyn_cast<MatmulOp>(operand.getOwner());
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  const int64_t entries = matmul ? stackOf(matmul) : 0;
  if (!entries || !type)
    return false;
  if (operand.get() == matmul.getWeight() || operand.get() == matmul.getSums())
    return true;
  // With one entry "by expert" is "by column".
  bool extra = llvm::is_contained(matmul.getExtras(), operand.get());
  return extra && entries > 1 && type.getRank() == 2 &&
         type.getDimSize(0) == entries;
}

// Whether a kernel sees an operand: only the runtime sees starts.
bool mille::lower::isBuffer(OpOperand &operand) {
  Operation *kernel = operand.getOwner();
  return isMemref(operand.get()) && operand.get() != startsOf(kernel) &&
         operand.get() != pastOf(kernel);
}

// (columns of a head, heads) of an out that is split into heads.
std::pair<int64_t, int64_t> mille::lower::headsOf(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto backward = dyn_cast<AttentionBackwardOp>(op)) {
    const auto parts = partsOf(backward);
    const int64_t out = int64_t(operand.getOperandNumber()) -
                        (op->getNumOperands() - int64_t(parts.size()));
    if (out < 0)
      return {0, 0};
    return {parts[out].columns, parts[out].heads};
  }
  if (operand.getOperandNumber() + 1 != op->getNumOperands())
    return {0, 0};
  if (auto attention = dyn_cast<AttentionOp>(op))
    return {attention.getValueDim(), attention.getHeads()};
  if (auto attention = dyn_cast<LinearAttentionOp>(op))
    return {attention.getValueDim(), attention.getHeads()};
  return {0, 0};
}

std::string mille::lower::shapeOf(OpOperand &operand, const AbiTypes &types,
                                  ConstantPool &constants) {
  auto type = cast<MemRefType>(operand.get().getType());
  auto [strides, offset] = type.getStridesAndOffset();
  SmallVector<std::pair<int64_t, int64_t>> dimensions; // extent, stride
  for (int64_t i = type.getRank() - 1; i >= 0; --i)
    dimensions.push_back(
        {type.isDynamicDim(i) ? -1 : type.getDimSize(i), strides[i]});
  if (auto [width, heads] = headsOf(operand); heads) {
    dimensions.front().first = width;
    dimensions.push_back({heads, width});
  }
  auto i32 = [&](int64_t value) { return Constant::of(types.i32, value); };
  auto shape = cast<LLVM::LLVMStructType>(types.shape).getBody();
  auto pairs = cast<LLVM::LLVMArrayType>(shape[2]);
  size_t rank = dimensions.size();
  dimensions.resize(MILLE_MAX_DIMENSIONS);
  std::vector<Constant> parts;
  for (auto [count, stride] : dimensions)
    parts.push_back(
        Constant::aggregate(pairs.getElementType(), {i32(count), i32(stride)}));
  // code | bits << 8 | lanes << 16
  Type element = type.getElementType();
  int64_t code = element.isBF16()              ? MILLE_CODE_BFLOAT
                 : isa<FloatType>(element)     ? MILLE_CODE_FLOAT
                 : element.isUnsignedInteger() ? MILLE_CODE_UINT
                                               : MILLE_CODE_INT;
  int64_t word = code | int64_t(element.getIntOrFloatBitWidth()) << 8 | 1 << 16;
  return constants.add(
      "shape",
      Constant::aggregate(types.shape, {i32(word), i32(rank),
                                        Constant::aggregate(pairs, parts)}));
}

int64_t mille::lower::bytesOfRow(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  return strides.front() * type.getElementTypeBitWidth() / 8;
}

Value mille::lower::outOf(Operation *kernel) {
  Value out;
  for (Value operand : kernel->getOperands())
    if (isMemref(operand))
      out = operand;
  return out;
}

bool mille::lower::hasRowPerToken(Value buffer) {
  auto space = rowSpaceOf(buffer);
  return space && space->isPerToken();
}

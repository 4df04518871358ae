// Verifiers of the kernels themselves, one `// Cn` per labelled constraint.
// Weights, the arena, launches and the layer loop are in VerifyProgram.cpp.
#include "dialects/kernel/Access.h"
#include "dialects/transformer/Symbols.h"

#include <cmath>

using namespace mlir;
using namespace mille::kernel;
using mille::transformer::formatDouble;
using mille::transformer::shapeText;

std::optional<int64_t> mille::kernel::columnsOf(Operation *op, StringRef name, Value value) {
  ShapedType type = shapedOf(value);
  if (type.getRank() == 2 && type.getElementType().isF32() &&
      !type.isDynamicDim(1) && type.getDimSize(1) > 0)
    return type.getDimSize(1);
  op->emitOpError() << name << " is " << type
                    << " but must be f32 [rows, columns]";
  return std::nullopt;
}

LogicalResult mille::kernel::verifyResult(Operation *op, Value out, Value result) {
  bool isTensor = isa<RankedTensorType>(out.getType());
  if (!isTensor && result)
    return op->emitOpError("outs is a memref but there is a result");
  if (isTensor && !result)
    return op->emitOpError("outs is a tensor but there is no result");
  if (result && result.getType() != out.getType())
    return op->emitOpError() << "result is " << result.getType()
                             << " but outs is " << out.getType();
  return success();
}

namespace {

// A scalar region: `arguments` f32 in, one f32 out.
LogicalResult verifyScalarRegion(Operation *op, Region &region,
                                 size_t arguments, StringRef reason) {
  Block &block = region.front();
  if (block.getNumArguments() != arguments)
    return op->emitOpError() << "region has " << block.getNumArguments()
                             << " arguments but " << arguments << " are needed, "
                             << reason;
  for (Type type : block.getArgumentTypes())
    if (!type.isF32())
      return op->emitOpError() << "region has an argument of type " << type
                               << " but they are f32";
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield || yield.getValues().size() != 1 ||
      !yield.getValues()[0].getType().isF32())
    return op->emitOpError("region must yield one f32");
  return success();
}

LogicalResult verifyAccess(Operation *op, StringRef name, size_t index,
                           Value value, int64_t columns) {
  if (shapedOf(value).getElementType().isF32() &&
      accessOf(shapedOf(value), columns))
    return success();
  return op->emitOpError() << name << ' ' << index << " is " << value.getType()
                           << " but must be f32 [?, " << columns << "], ["
                           << columns << "], [1, " << columns
                           << "], [?, 1] or [1]";
}

} // namespace

LogicalResult mille::kernel::verifyPositive(Operation *op, StringRef name, int64_t size) {
  if (size > 0)
    return success();
  return op->emitOpError() << name << " is " << size << " but must be > 0";
}


//===-- matmul --------------------------------------------------------------===//

namespace {

// The weight as [accumulators * N, K], or in panels [panels, K, panel].
bool weightFits(ArrayRef<int64_t> weight, int64_t accumulators, int64_t columns,
                int64_t inner, int64_t entries) {
  if (entries) { // a stack of weights
    if (weight.size() < 3 || weight[0] != entries)
      return false;
    weight = weight.drop_front();
  }
  if (weight.size() == 2)
    return weight[0] % accumulators == 0 &&
           weight[0] / accumulators == columns && weight[1] == inner;
  if (weight.size() != 3 || weight[1] != inner || weight[2] <= 0 ||
      weight[2] % accumulators)
    return false;
  return weight[0] ==
         int64_t(llvm::divideCeil(columns, weight[2] / accumulators));
}

} // namespace

LogicalResult MatmulOp::verify() {
  auto inner = columnsOf(*this, "input", getInput()); // C1
  if (!inner)
    return failure();
  auto columns = columnsOf(*this, "outs", getOut()); // C1
  if (!columns)
    return failure();
  int64_t accumulators = getAccumulators();
  if (accumulators != 1 && accumulators != 2) // C2
    return emitOpError() << "accumulators is " << accumulators
                         << " but must be 1 or 2";
  int64_t entries = 0;
  if (Value starts = getStarts()) {
    ShapedType type = shapedOf(starts);
    if (type.getRank() != 1 || !type.getElementType().isInteger(32) ||
        type.isDynamicDim(0) || type.getDimSize(0) < 2) // C6
      return emitOpError() << "starts is " << type
                           << " but must be i32 [entries + 1]";
    entries = type.getDimSize(0) - 1;
  }
  if (!shapedOf(getWeight()).getElementType().isF32() ||
      !weightFits(shapeOf(getWeight()), accumulators, *columns, *inner, entries)) // C1
    return emitOpError() << "weight is " << getWeight().getType()
                         << " but input is " << shapeText(shapeOf(getInput()))
                         << ", outs is " << shapeText(shapeOf(getOut()))
                         << " and accumulators is " << accumulators;
  for (auto [index, extra] : llvm::enumerate(getExtras()))
    if (entries && shapeOf(extra) == ArrayRef<int64_t>({entries, *columns}))
      continue; // by expert
    else if (failed(verifyAccess(*this, "extra", index, extra, *columns))) // C3
      return failure();
  if (failed(verifyScalarRegion(*this, getEpilogue(), // C4
                                accumulators + getExtras().size(),
                                "one per accumulator and extra")))
    return failure();
  return verifyResult(*this, getOut(), getResult()); // C5
}

LogicalResult mille::kernel::verifyOneOf(Operation *op, StringRef name, Value value,
                          ArrayRef<SmallVector<int64_t>> shapes) {
  if (!value)
    return success();
  for (ArrayRef<int64_t> shape : shapes)
    if (shapedOf(value).getElementType().isF32() && shapeOf(value) == shape)
      return success();
  return op->emitOpError() << name << " is " << value.getType()
                           << " but must be f32 " << shapeText(shapes.front());
}

LogicalResult mille::kernel::verifyColumns(Operation *op, StringRef name, Value buffer,
                            int64_t offset, int64_t heads, int64_t size) {
  auto columns = columnsOf(op, name, buffer);
  if (!columns)
    return failure();
  int64_t end;
  if (offset >= 0 && !__builtin_mul_overflow(heads, size, &end) &&
      !__builtin_add_overflow(end, offset, &end) && end <= *columns)
    return success();
  return op->emitOpError() << name << " has " << *columns << " columns but "
                          << heads << " heads of " << size
                          << " are read from column " << offset;
}

//===-- attention -----------------------------------------------------------===//

namespace {

// Query, key, value and out, at their offsets.
template <typename Op> LogicalResult verifyBuffers(Op op) {
  ArrayRef<int64_t> offsets = op.getOffsets();
  if (offsets.size() != 3) // C2
    return op.emitOpError() << "offsets has " << offsets.size()
                            << " entries but there are 3: query, key, value";
  int64_t heads = op.getHeads(), kvHeads = op.getKvHeads();
  if (failed(verifyColumns(op, "query", op.getQuery(), offsets[0], heads,
                           op.getHeadDim())) || // C2
      failed(verifyColumns(op, "key", op.getKey(), offsets[1], kvHeads,
                           op.getHeadDim())) || // C2
      failed(verifyColumns(op, "value", op.getValue(), offsets[2], kvHeads,
                           op.getValueDim()))) // C2
    return failure();
  auto columns = columnsOf(op, "outs", op.getOut());
  if (!columns)
    return failure();
  int64_t wanted;
  if (__builtin_mul_overflow(heads, int64_t(op.getValueDim()), &wanted) ||
      wanted != *columns) // C2
    return op.emitOpError() << "outs has " << *columns
                            << " columns but heads is " << heads
                            << " and value_dim is " << op.getValueDim();
  return success();
}

LogicalResult verifyOptional(AttentionOp op) {
  constexpr int64_t any = ShapedType::kDynamic;
  int64_t heads = op.getHeads();
  if (failed(verifyOneOf(op, "query_scale", op.getQueryScale(), {{any, 1}})) || // C5
      failed(verifyOneOf(op, "key_head_bias", op.getKeyHeadBias(), // C5
                         {{any, heads}})) ||
      failed(verifyOneOf(op, "sink", op.getSink(), {{heads}})) || // C8
      failed(verifyOneOf(op, "head_scale", op.getHeadScale(), // C8
                         {{heads}, {1}})))
    return failure();
  if (Value bias = op.getBias())
    if (shapedOf(bias).getRank() != 2 || shapeOf(bias)[0] != heads) // C8
      return op.emitOpError() << "bias is " << bias.getType()
                              << " but heads is " << heads;
  if (bool(op.getBias()) != bool(op.getBiasBy())) // C10
    return op.emitOpError("must have both bias and bias_by, or neither");
  if (auto window = op.getWindow();
      window && (window->size() != 2 || (*window)[0] < 0 || (*window)[1] < 0)) // C9
    return op.emitOpError("window must be two numbers >= 0, left and right");
  if (int64_t(op.getChunk()) < 0) // C9
    return op.emitOpError() << "chunk is " << int64_t(op.getChunk())
                            << " but must be >= 0";
  return success();
}

} // namespace

LogicalResult AttentionOp::verify() {
  for (auto [name, size] :
       {std::pair<StringRef, int64_t>{"heads", getHeads()},
        {"kv_heads", getKvHeads()}, {"head_dim", getHeadDim()},
        {"value_dim", getValueDim()}})
    if (failed(verifyPositive(*this, name, size))) // C1
      return failure();
  if (getHeads() % getKvHeads()) // C1
    return emitOpError() << "kv_heads is " << getKvHeads()
                         << " but must divide heads, which is " << getHeads();
  if (failed(verifyBuffers(*this)))
    return failure();
  if (Value rotation = getRotation()) {
    auto columns = columnsOf(*this, "rotation", rotation);
    if (!columns)
      return failure();
    if (*columns % 2 || int64_t(getStart()) < 0 ||
        *columns > int64_t(getHeadDim()) - int64_t(getStart())) // C3
      return emitOpError() << "rotation has " << *columns
                           << " columns but must be even and at most head_dim, "
                           << getHeadDim() << (getStart() ? ", less start" : "");
  }
  if (auto slopes = getSlopes(); slopes && slopes->size() != getHeads()) // C4
    return emitOpError() << "slopes has " << slopes->size()
                         << " entries but heads is " << getHeads();
  if (Value bias = getKeyBias()) {
    auto columns = columnsOf(*this, "key_bias", bias);
    if (!columns)
      return failure();
    if (*columns != 1) // C5
      return emitOpError() << "key_bias has " << *columns
                           << " columns but must have 1";
  }
  if (failed(verifyOptional(*this)))
    return failure();
  double scale = getScale().convertToDouble(),
         softcap = getSoftcap().convertToDouble();
  if (!std::isfinite(scale)) // C6
    return emitOpError() << "scale is " << formatDouble(scale)
                         << " but must be finite";
  if (!std::isfinite(softcap) || softcap < 0) // C6
    return emitOpError() << "softcap is " << formatDouble(softcap)
                         << " but must be finite and >= 0";
  return verifyResult(*this, getOut(), getResult()); // C7
}

LogicalResult LinearAttentionOp::verify() {
  for (auto [name, size] :
       {std::pair<StringRef, int64_t>{"heads", getHeads()},
        {"kv_heads", getKvHeads()}, {"head_dim", getHeadDim()},
        {"value_dim", getValueDim()}})
    if (failed(verifyPositive(*this, name, size))) // C1
      return failure();
  if (getHeads() % getKvHeads()) // C1
    return emitOpError() << "kv_heads is " << getKvHeads()
                         << " but must divide heads, which is " << getHeads();
  if (failed(verifyBuffers(*this)) || // C2
      failed(verifyOneOf(*this, "key_bias", getKeyBias(), // C3
                         {{ShapedType::kDynamic, 1}})) ||
      failed(verifyOneOf(*this, "decay", getDecay(), {{int64_t(getHeads())}}))) // C3
    return failure();
  double scale = getScale().convertToDouble();
  if (!std::isfinite(scale)) // C4
    return emitOpError() << "scale is " << formatDouble(scale)
                         << " but must be finite";
  return verifyResult(*this, getOut(), getResult()); // C5
}

//===-- rows ----------------------------------------------------------------===//

LogicalResult RowsOp::verify() {
  auto columns = columnsOf(*this, "outs", getOut());
  if (!columns)
    return failure();
  ArrayRef<int64_t> gather = getGather();
  int64_t indices = getIndices().size();
  if (gather.size() != getInputs().size()) // C2
    return emitOpError() << "gather has " << gather.size()
                         << " entries but there are " << getInputs().size()
                         << " inputs";
  for (auto [index, input] : llvm::enumerate(getInputs())) {
    int64_t from = gather[index];
    if (from < -1 || from >= indices) // C2
      return emitOpError() << "gather[" << index << "] is " << from
                           << " but there are " << indices << " indices";
    if (from == -1) {
      if (failed(verifyAccess(*this, "input", index, input, *columns))) // C1
        return failure();
      continue;
    }
    ShapedType table = shapedOf(input);
    if (!table.getElementType().isF32() || table.getRank() != 2 ||
        table.getDimSize(1) != *columns) // C1
      return emitOpError() << "gathered input " << index << " is " << table
                           << " but must be f32 [entries, " << *columns << "]";
  }
  for (Value index : getIndices())
    if (shapedOf(index).getRank() != 1 ||
        !shapedOf(index).getElementType().isInteger(32)) // C3
      return emitOpError() << "indices are " << index.getType()
                           << " but must be i32 [?]";
  if (failed(verifyScalarRegion(*this, getBody(), getInputs().size(), // C4
                                "one per input")))
    return failure();
  if (getNormAttr()) {
    if (getInputs().empty()) // C5
      return emitOpError("has a norm but no input");
    if (gather[0] == -1 &&
        accessOf(shapedOf(getInputs()[0]), *columns) != Access::element) // C5
      return emitOpError() << "input 0 is " << getInputs()[0].getType()
                           << " but a normed one must be [?, " << *columns
                           << "] or gathered";
    if (int64_t group = getNormAttr().getGroup();
        group < 0 || (group && *columns % group)) // C5
      return emitOpError() << "norms groups of " << group << " of " << *columns
                           << " columns";
  }
  return verifyResult(*this, getOut(), getResult()); // C6
}

//===-- prepared once per run -----------------------------------------------===//

LogicalResult RotationOp::verify() {
  auto columns = columnsOf(*this, "outs", getOut());
  if (!columns)
    return failure();
  if (*columns != 2 * int64_t(getFrequencies().size())) // C1
    return emitOpError() << "outs has " << *columns << " columns but there are "
                         << getFrequencies().size() << " frequencies";
  return success();
}

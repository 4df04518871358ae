// Reads a kernel spec from a kernel op on memrefs, and checks what kernels
// require. Must not choose tiles or schedules: generators do.
#include "compiler/kernels/ReadParts.h"

#include "dialects/kernel/Joined.h"
#include "dialects/kernel/OpList.h"
#include "dialects/kernel/Signature.h"
#include "dialects/transformer/Panels.h"

using namespace mlir;
using namespace mille;

namespace {

Element elementOf(Type type) {
  if (type.isF32())
    return Element::f32;
  if (type.isBF16())
    return Element::bf16;
  if (type.isF16())
    return Element::f16;
  if (isa<Float8E4M3FNType>(type))
    return Element::e4m3;
  if (type.isUnsignedInteger(8))
    return Element::u8;
  if (type.isSignlessInteger(8))
    return Element::i8;
  assert(type.isSignlessInteger(32) && "the verifier admits no other");
  return Element::i32;
}

} // namespace

LogicalResult mille::readBuffer(Operation *op, Type type, BufferSpec &spec) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return op->emitOpError("operand is ") << type << " but must be a memref";
  spec.element = elementOf(memref.getElementType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(memref.getStridesAndOffset(strides, offset)))
    return op->emitOpError("operand is ") << type << " but must be strided";
  spec.rank = memref.getRank();
  assert((spec.rank == 1 || spec.rank == 2) && "the verifier admits no other");
  spec.columns = memref.getShape().back();
  spec.rows = spec.rank == 2 ? memref.getDimSize(0) : 1;
  if (spec.rank == 1 && spec.columns == ShapedType::kDynamic) { // indices
    spec.columns = 1;
    spec.rows = -1;
  }
  if (spec.rows == ShapedType::kDynamic)
    spec.rows = -1;
  spec.rowStride = spec.rank == 2 ? strides[0] : 0;
  if (strides.back() != 1 && spec.columns != 1)
    return op->emitOpError("operand is ")
           << type << " but its last stride must be 1";
  if (spec.columns < 1 || spec.rowStride < 0)
    return op->emitOpError("operand is ")
           << type << " but its columns and strides must be known";
  return success();
}

LogicalResult mille::readOperand(Operation *op, Type type, int64_t columns,
                                 BufferSpec &spec) {
  if (failed(readBuffer(op, type, spec)))
    return failure();
  switch (*kernel::accessOf(cast<ShapedType>(type), columns)) {
  case kernel::Access::element:
    spec.reading = Reading::element;
    break;
  case kernel::Access::column:
    spec.reading = Reading::column;
    break;
  case kernel::Access::row:
    spec.reading = Reading::row;
    break;
  case kernel::Access::scalar:
    spec.reading = Reading::scalar;
    break;
  }
  return success();
}

RowStatistic mille::statisticOf(kernel::RowNormKind kind) {
  switch (kind) {
  case kernel::RowNormKind::layer:
    return RowStatistic::layer;
  case kernel::RowNormKind::rms:
    return RowStatistic::rms;
  case kernel::RowNormKind::l2:
    return RowStatistic::l2;
  }
  return RowStatistic::none;
}

namespace {

// Reads the weight in panels, or a stack of weights for experts or heads. The
// verifier has checked the number of panels.
LogicalResult readWeight(kernel::MatmulOp op, MatmulSpec &m) {
  auto weight = dyn_cast<MemRefType>(op.getWeight().getType());
  const int64_t rank = m.entries() ? 4 : 3, group = m.group();
  const int64_t steps = m.steps();
  // In rows, for generators that read it so.
  if (weight && weight.getRank() == rank - 1 && weight.getLayout().isIdentity())
    return success();
  // AVX-512 tiles hold whole vectors of each accumulator.
  const int64_t unit = 16 * group * m.accumulators;
  if (!weight || weight.getRank() != rank ||
      weight.getDimSize(rank - 1) % unit ||
      weight.getDimSize(rank - 2) != steps || !weight.getLayout().isIdentity())
    return op.emitOpError("weight is ")
           << op.getWeight().getType() << " but must be packed: ["
           << (m.experts ? "experts, "
               : m.heads ? "heads, "
                         : "")
           << "panels, " << steps << ", a multiple of " << unit << "]";
  m.panel = weight.getDimSize(rank - 1) / group;
  m.panels = weight.getDimSize(rank - 3);
  return success();
}

LogicalResult readBlocks(kernel::MatmulOp op, MatmulSpec &m) {
  auto weight = dyn_cast<MemRefType>(op.getWeight().getType());
  if (!weight || !weight.getElementType().isInteger(8) ||
      !weight.getLayout().isIdentity())
    return op.emitOpError("weight is ")
           << op.getWeight().getType() << " but must be packed blocks";
  m.panel = BlockPanels::columns * m.accumulators;
  m.panels = weight.getDimSize(weight.getRank() - 3);
  return success();
}

LogicalResult read(kernel::MatmulOp op, KernelSpec &spec) {
  spec.kind = KernelKind::matmul;
  MatmulSpec &m = spec.matmul;
  if (failed(readBuffer(op, op.getInput().getType(), m.input)) ||
      failed(readBuffer(op, op.getOut().getType(), spec.out)))
    return failure();
  if (op.getParameters() &&
      failed(readBuffer(op, op.getParameters().getType(), m.parameters)))
    return failure();
  m.heads = op.getHeads();
  if (m.heads) {
    m.input.columns /= m.heads;
    spec.out.columns /= m.heads;
  }
  m.inner = m.input.columns;
  m.columns = spec.out.columns;
  m.accumulators = op.getAccumulators();
  if (op.getBlocks())
    m.blocks = blockFormOf(*op.getBlocks());
  // With experts, a kernel sees the weight of one expert.
  if (op.getStarts())
    m.experts = cast<ShapedType>(op.getStarts().getType()).getDimSize(0) - 1;
  const int64_t entries = m.experts;
  if (failed(m.ofBlocks() ? readBlocks(op, m) : readWeight(op, m)))
    return failure();
  for (Value extra : op.getExtras()) {
    auto type = cast<ShapedType>(extra.getType());
    BufferSpec &buffer = m.extras.emplace_back();
    if (entries && type.getShape() == ArrayRef<int64_t>{entries, m.columns})
      buffer = {1, m.columns, entries, 0, Reading::column}; // a row by expert
    else if (failed(readOperand(op, type, m.columns, buffer)))
      return failure();
  }
  readRegion(op.getEpilogue(), m.epilogue);
  return success();
}

LogicalResult read(kernel::RowsOp op, KernelSpec &spec) {
  spec.kind = KernelKind::rows;
  RowsSpec &r = spec.rows;
  if (failed(readBuffer(op, op.getOut().getType(), spec.out)))
    return failure();
  r.columns = spec.out.columns;
  r.gather.assign(op.getGather().begin(), op.getGather().end());
  r.indices = op.getIndices().size();
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    BufferSpec &buffer = r.inputs.emplace_back();
    bool gathered = r.gather[i] >= 0;
    if (failed(gathered ? readBuffer(op, input.getType(), buffer)
                        : readOperand(op, input.getType(), r.columns, buffer)))
      return failure();
  }
  if (auto norm = op.getNormAttr()) {
    r.norm = statisticOf(norm.getKind());
    r.eps = norm.getEps();
    r.group = norm.getGroup() ? norm.getGroup() : r.columns;
  }
  readRegion(op.getBody(), r.body);
  return success();
}

// Reads the parts that attention and linear attention share.
template <typename Op> LogicalResult readHeads(Op op, KernelSpec &spec) {
  spec.kind = KernelKind::attention;
  AttentionSpec &a = spec.attention;
  if (failed(readBuffer(op, op.getQuery().getType(), a.query)) ||
      failed(readBuffer(op, op.getKey().getType(), a.key)) ||
      failed(readBuffer(op, op.getValue().getType(), a.value)) ||
      failed(readBuffer(op, op.getOut().getType(), spec.out)))
    return failure();
  a.heads = op.getHeads();
  a.kvHeads = op.getKvHeads();
  a.headDim = op.getHeadDim();
  a.valueDim = op.getValueDim();
  a.queryOffset = op.getOffsets()[0];
  a.keyOffset = op.getOffsets()[1];
  a.valueOffset = op.getOffsets()[2];
  a.scale = op.getScale().convertToDouble();
  return success();
}

LogicalResult readOptional(Operation *op, Value value,
                           std::optional<BufferSpec> &spec) {
  return value ? readBuffer(op, value.getType(), spec.emplace()) : success();
}

LogicalResult read(kernel::AttentionOp op, KernelSpec &spec) {
  if (failed(readHeads(op, spec)))
    return failure();
  AttentionSpec &a = spec.attention;
  Value operands[attentionOperands] = {
      op.getKeyMask(),    op.getKeyHeadBias(),  op.getRotation(),
      op.getQueryScale(), op.getHeadScale(),    op.getSink(),
      op.getBias(),       op.getContentQuery(), op.getContentKey(),
      op.getSegments(),   op.getPrefix()};
  for (int i = 0; i < attentionOperands; ++i)
    if (failed(readOptional(op, operands[i], a.optional[i])))
      return failure();
  a.softcap = op.getSoftcap().convertToDouble();
  a.causal = op.getCausal();
  a.byteScores = op.getByteScores();
  a.past = bool(op.getPast());
  a.panels = op.getPanels();
  std::optional<int64_t> most = kernel::mostOf(op.getKeys());
  a.fewKeys = !a.past && most && *most > 0 && *most <= a.mostFewKeys;
  a.interleaved = op.getPairing() == transformer::Pairing::interleaved;
  a.biasByDistance = op.getBiasBy() == kernel::BiasBy::distance;
  a.start = op.getStart();
  a.chunk = op.getChunk();
  if (auto window = op.getWindow(); window && !window->empty()) {
    a.windowLeft = (*window)[0];
    a.windowRight = (*window)[1];
  }
  if (auto slopes = op.getSlopes())
    a.slopes.assign(slopes->begin(), slopes->end());
  return success();
}

LogicalResult read(kernel::LinearAttentionOp op, KernelSpec &spec) {
  if (failed(readHeads(op, spec)))
    return failure();
  AttentionSpec &a = spec.attention;
  a.causal = true;
  auto &keyMask = a.optional[int(AttentionOperand::keyMask)];
  if (failed(readOptional(op, op.getKeyMask(), keyMask)))
    return failure();
  return readOptional(op, op.getDecay(), a.decay);
}

LogicalResult read(kernel::QuantizeOp op, KernelSpec &spec) {
  spec.kind = KernelKind::quantize;
  if (failed(readBuffer(op, op.getInput().getType(), spec.quantize.input)) ||
      failed(readBuffer(op, op.getValues().getType(), spec.quantize.values)))
    return failure();
  return readBuffer(op, op.getParameters().getType(), spec.out);
}

LogicalResult read(kernel::RotateOp op, KernelSpec &spec) {
  spec.kind = KernelKind::rotate;
  RotateSpec &r = spec.rotate;
  r.heads = op.getHeads();
  r.headDim = op.getHeadDim();
  r.start = op.getStart();
  r.interleaved = op.getPairing() == transformer::Pairing::interleaved;
  if (failed(readBuffer(op, op.getInput().getType(), r.input)) ||
      failed(readBuffer(op, op.getRotation().getType(), r.rotation)))
    return failure();
  return readBuffer(op, op.getOut().getType(), spec.out);
}

template <typename Op> LogicalResult readSlots(Op op, KernelSpec &spec) {
  spec.kind = KernelKind::slots;
  SlotsSpec &s = spec.slots;
  s.k = op.getK();
  s.combines = std::is_same_v<Op, kernel::CombineOp>;
  if (failed(readBuffer(op, op.getInput().getType(), s.input)) ||
      failed(readOptional(op, op.getWeights(), s.weights)) ||
      failed(readBuffer(op, op.getOut().getType(), spec.out)))
    return failure();
  s.columns = spec.out.columns;
  return success();
}

LogicalResult read(kernel::DispatchOp op, KernelSpec &spec) {
  return readSlots(op, spec);
}
LogicalResult read(kernel::CombineOp op, KernelSpec &spec) {
  return readSlots(op, spec);
}

// Ops of a training step.
template <typename Op>
auto read(Op op, KernelSpec &spec) -> decltype(readKernel(op, spec)) {
  return readKernel(op, spec);
}

LogicalResult readJoined(Operation *leader, KernelSpec &spec) {
  for (kernel::RowsOp op : kernel::joinedTo(leader)) {
    KernelSpec own;
    if (failed(read(op, own)))
      return failure();
    auto sources = kernel::sourcesOf(leader, op);
    spec.joined.push_back({std::move(own.rows),
                           own.out,
                           kernel::isWritten(leader, op),
                           {sources.begin(), sources.end()}});
  }
  spec.written = kernel::isWritten(leader, leader);
  return success();
}

} // namespace

// A generated op without a `read` gives a compile error here.
LogicalResult mille::readSpec(Operation *op, KernelSpec &spec) {
  auto noKernel = [](Operation *other) -> LogicalResult {
    return other->emitOpError(
        "is no kernel; kernels are matmul, rows, quantize, "
        "attention, linear_attention, rotate, dispatch, combine and those of "
        "a training step");
  };
  LogicalResult result = kernel::Ops::visit<LogicalResult>(
      op,
      [&](auto known) -> LogicalResult {
        if constexpr (decltype(known)::template hasTrait<kernel::Generated>())
          return read(known, spec);
        else
          return noKernel(known);
      },
      noKernel);
  return failed(result) || kernel::joinedTo(op).empty() ? result
                                                        : readJoined(op, spec);
}

// Reads the specs of the kernels of a training step.
// Must not choose tiles or schedules: generators do.
#include "compiler/kernels/ReadParts.h"
#include "dialects/kernel/Backward.h"
#include "dialects/kernel/Signature.h"

using namespace mlir;
using namespace mille;

namespace {

// Reads a buffer for each operand, in order.
LogicalResult readBuffers(Operation *op,
                          ArrayRef<std::pair<Value, BufferSpec *>> buffers) {
  for (auto [value, spec] : buffers)
    if (failed(readBuffer(op, value.getType(), *spec)))
      return failure();
  return success();
}

// What a kernel sees of a buffer: an entry of it where it is a stack.
Type entryOf(Value buffer, Value starts) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!starts || !type || !type.getLayout().isIdentity())
    return buffer.getType();
  return MemRefType::get(type.getShape().drop_front(), type.getElementType());
}

// Where a spec has an out of attention's backward pass.
BufferSpec &gradientOf(kernel::GradientOf of, KernelSpec &spec) {
  using Of = kernel::GradientOf;
  switch (of) {
  case Of::key:
    return spec.attentionBackward.keyGradient;
  case Of::value:
    return spec.attentionBackward.valueGradient;
  case Of::key_head_bias:
    return spec.keyBiasGradient.emplace();
  case Of::bias:
    return spec.biasGradient.emplace();
  case Of::sink:
    return spec.sinkGradient.emplace();
  case Of::query:
    return spec.out;
  }
  llvm_unreachable("an out is one of the values above");
}

} // namespace

LogicalResult mille::readKernel(kernel::WeightGradientOp op, KernelSpec &spec) {
  spec.kind = KernelKind::weightGradient;
  WeightGradientSpec &g = spec.weightGradient;
  if (failed(readBuffers(
          op, {{op.getGradient(), &g.gradient}, {op.getInput(), &g.input}})))
    return failure();
  // Rows of an expert are added one by one: read as bits, bf16 has no pairs.
  for (BufferSpec *rows : {&g.gradient, &g.input})
    if (op.getStarts() && isBf16(rows->element))
      rows->element = Element::bf16Bits;
  return readBuffer(op, entryOf(op.getOut(), op.getStarts()), spec.out);
}

LogicalResult mille::readKernel(kernel::ColumnSumsOp op, KernelSpec &spec) {
  spec.kind = KernelKind::columnSums;
  if (failed(readBuffer(op, op.getOut().getType(), spec.out)))
    return failure();
  const int64_t columns =
      cast<ShapedType>(op.getInputs()[0].getType()).getShape().back();
  for (Value input : op.getInputs())
    if (failed(readOperand(op, input.getType(), columns,
                           spec.columnSums.inputs.emplace_back())))
      return failure();
  if (op.getTo())
    spec.to.assign(op.getTo()->begin(), op.getTo()->end());
  readRegion(op.getBody(), spec.columnSums.body);
  return success();
}

LogicalResult mille::readKernel(kernel::EmbedGradientOp op, KernelSpec &spec) {
  spec.kind = KernelKind::embedGradient;
  return readBuffers(op, {{op.getGradient(), &spec.embedGradient.gradient},
                          {op.getOut(), &spec.out}});
}

LogicalResult mille::readKernel(kernel::NormBackwardOp op, KernelSpec &spec) {
  spec.kind = KernelKind::normBackward;
  NormBackwardSpec &n = spec.normBackward;
  n.norm = statisticOf(op.getNorm().getKind());
  n.eps = op.getNorm().getEps();
  if (failed(readBuffers(op, {{op.getGradient(), &n.gradient},
                              {op.getInput(), &n.input},
                              {op.getOuts().back(), &spec.out}})))
    return failure();
  n.group = op.getNorm().getGroup() ? op.getNorm().getGroup() : n.input.columns;
  if (op.getWeight() &&
      failed(readOperand(op, op.getWeight().getType(), n.input.columns,
                         n.weight.emplace())))
    return failure();
  if (op.getOuts().size() > 1)
    return readBuffer(op, op.getOuts()[0].getType(), n.inputGradient.emplace());
  return success();
}

LogicalResult mille::readKernel(kernel::CrossEntropyOp op, KernelSpec &spec) {
  spec.kind = KernelKind::crossEntropy;
  CrossEntropySpec &c = spec.crossEntropy;
  c.smoothing = op.getSmoothing().convertToDouble();
  return readBuffers(op, {{op.getLogits(), &c.logits},
                          {op.getLosses(), &c.losses},
                          {op.getGradient(), &spec.out}});
}

LogicalResult mille::readKernel(kernel::PackOp op, KernelSpec &spec) {
  spec.kind = KernelKind::pack;
  PackSpec &p = spec.pack;
  p.transposed = op.getTransposed();
  if (failed(readBuffer(op, entryOf(op.getWeight(), op.getStarts()), p.weight)))
    return failure();
  auto out = dyn_cast<MemRefType>(entryOf(op.getOut(), op.getStarts()));
  if (!out || out.getRank() != 3 || !out.getLayout().isIdentity())
    return op.emitOpError("outs is ")
           << op.getOut().getType() << " but must be packed in panels";
  if (out.getElementType().isBF16()) {
    spec.out.element = Element::bf16;
    p.group = 2;
  }
  p.panels = out.getDimSize(0);
  p.steps = out.getDimSize(1);
  p.panel = out.getDimSize(2) / p.group;
  spec.out.columns = spec.out.rowStride = out.getDimSize(2);
  spec.out.rows = p.steps;
  return success();
}

LogicalResult mille::readKernel(kernel::AttentionBackwardOp op,
                                KernelSpec &spec) {
  spec.kind = KernelKind::attentionBackward;
  AttentionBackwardSpec &a = spec.attentionBackward;
  AttentionSpec &f = a.forward;
  f.heads = op.getHeads();
  f.kvHeads = op.getKvHeads();
  f.headDim = op.getHeadDim();
  f.valueDim = op.getValueDim();
  f.queryOffset = op.getOffsets()[0];
  f.keyOffset = op.getOffsets()[1];
  f.valueOffset = op.getOffsets()[2];
  f.scale = op.getScale().convertToDouble();
  f.softcap = op.getSoftcap().convertToDouble();
  f.causal = op.getCausal();
  if (auto window = op.getWindow()) {
    f.windowLeft = (*window)[0];
    f.windowRight = (*window)[1];
  }
  f.chunk = op.getChunk();
  if (auto slopes = op.getSlopes())
    f.slopes.assign(slopes->begin(), slopes->end());
  f.biasByDistance = op.getBiasBy() == kernel::BiasBy::distance;
  std::optional<int64_t> most = kernel::mostOf(op.getKeys());
  a.shortRuns = most && *most > 0 && *most <= a.mostOfShort;
  for (auto [operand, value] :
       {std::pair{AttentionOperand::keyMask, op.getKeyMask()},
        {AttentionOperand::keyHeadBias, op.getKeyHeadBias()},
        {AttentionOperand::sink, op.getSink()},
        {AttentionOperand::bias, op.getBias()},
        {AttentionOperand::segments, op.getSegments()}})
    if (value && failed(readBuffer(op, value.getType(),
                                   f.optional[int(operand)].emplace())))
      return failure();
  SmallVector<std::pair<Value, BufferSpec *>> buffers{
      {op.getQuery(), &f.query},
      {op.getKey(), &f.key},
      {op.getValue(), &f.value},
      {op.getGradient(), &a.gradient}};
  for (auto [out, part] : llvm::zip_equal(op.getOuts(), kernel::partsOf(op)))
    buffers.push_back({out, &gradientOf(part.of, spec)});
  return readBuffers(op, buffers);
}

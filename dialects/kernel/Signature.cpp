// The signature of `forward`, on tensors and on memrefs.
// Reads attributes only; verifiers have seen that they are there.
#include "dialects/kernel/Signature.h"
#include "dialects/kernel/RowSpace.h"

using namespace mlir;

namespace mille::kernel {
namespace {

TensorInfo describe(Type type, DictionaryAttr attributes) {
  TensorInfo info;
  auto shaped = dyn_cast<ShapedType>(type);
  info.isFloat = shaped && shaped.getElementType().isF32();
  if (!attributes)
    return info;
  if (auto name = attributes.getAs<StringAttr>("transformer.name"))
    info.name = name.str();
  if (auto fallback = attributes.getAs<StringAttr>("transformer.default"))
    info.fallback = fallback.str();
  if (auto below = attributes.getAs<IntegerAttr>("transformer.below"))
    info.below = below.getInt();
  if (auto shape = attributes.getAs<DenseI64ArrayAttr>("transformer.shape"))
    info.shape.append(shape.asArrayRef().begin(), shape.asArrayRef().end());
  return info;
}

// The number of entries that a keep writes up to.
int64_t entriesOf(KeepOp keep) {
  int64_t entries = keep.getIndex() + 1;
  auto layers = keep->getParentOfType<LayersOp>();
  if (!layers)
    return entries;
  Region *body = keep->getParentRegion();
  while (body->getParentOp() != layers)
    body = body->getParentOp()->getParentRegion();
  int64_t last = 0;
  for (auto [layer, number] : llvm::enumerate(layers.getBodies()))
    if (number == int64_t(body->getRegionNumber()))
      last = layer;
  return entries + last;
}

TensorInfo namedOutput(StringRef name, ArrayRef<int64_t> shape) {
  TensorInfo info;
  info.name = name.str();
  info.isFloat = true;
  info.shape.append(shape.begin(), shape.end());
  return info;
}

// A keep's output has as many entries as its last keep writes.
void addKept(KeepOp keep, Signature &signature) {
  int64_t number = signature.find(keep.getName());
  if (number < 0) {
    auto space = rowSpaceOf(keep.getInput());
    auto type = cast<ShapedType>(keep.getInput().getType());
    number = signature.outputs.size();
    signature.outputs.push_back(
        namedOutput(keep.getName(), {0, -1, space ? space->perSequence() : -2,
                                     type.getShape().back()}));
  }
  int64_t &entries = signature.outputs[number].shape[0];
  entries = std::max(entries, entriesOf(keep));
}

} // namespace

std::string sizeText(int64_t extent) {
  return extent == -1   ? "batch"
         : extent == -2 ? "tokens"
         : extent == -3 ? "decoder_tokens"
                        : std::to_string(extent);
}

std::string TensorInfo::shapeText() const {
  std::string text = "[";
  for (auto [index, extent] : llvm::enumerate(shape)) {
    text += index ? ", " : "";
    text += sizeText(extent);
  }
  return text + "]";
}

SmallVector<func::FuncOp> entriesOf(Operation *model) {
  SmallVector<func::FuncOp> entries;
  model->walk<WalkOrder::PreOrder>([&](func::FuncOp function) {
    entries.push_back(function);
    return WalkResult::skip();
  });
  return entries;
}

func::FuncOp entryOf(Operation *model, StringRef name) {
  for (func::FuncOp entry : entriesOf(model))
    if (name.empty() || entry.getName() == name)
      return entry;
  return {};
}

func::FuncOp forwardOf(Operation *model) { return entryOf(model, ""); }

unsigned sizeArguments(func::FuncOp forward) {
  return forward->hasAttr("kernel.decoder") ? 3 : 2;
}

int64_t Signature::find(StringRef output) const {
  for (auto [number, info] : llvm::enumerate(outputs))
    if (info.name == output)
      return number;
  return -1;
}

bool Signature::has(int64_t extent) const {
  auto names = [&](const TensorInfo &info) {
    return llvm::is_contained(info.shape, extent);
  };
  return llvm::any_of(inputs, names) || llvm::any_of(outputs, names);
}

static int64_t numberOf(func::FuncOp forward, StringRef name, int64_t absent) {
  auto attribute = forward->getAttrOfType<IntegerAttr>(name);
  return attribute ? attribute.getInt() : absent;
}

ArenaSizes arenaSizesOf(func::FuncOp forward) {
  return {numberOf(forward, "kernel.arena_bytes_per_row", 0),
          numberOf(forward, "kernel.fixed_tokens", 0),
          numberOf(forward, "kernel.slots", 1)};
}

RemovablePadding removablePaddingOf(func::FuncOp forward) {
  return {numberOf(forward, "kernel.padding_ends", 0),
          numberOf(forward, "kernel.mask_input", 0)};
}

Signature signatureOf(func::FuncOp forward) {
  Signature signature;
  for (unsigned i = sizeArguments(forward); i < forward.getNumArguments();
       ++i) {
    TensorInfo info =
        describe(forward.getArgument(i).getType(), forward.getArgAttrDict(i));
    bool output = !!forward.getArgAttr(i, "kernel.output");
    (output ? signature.outputs : signature.inputs).push_back(std::move(info));
  }
  for (unsigned i = 0; i < forward.getNumResults(); ++i)
    signature.outputs.push_back(
        describe(forward.getResultTypes()[i], forward.getResultAttrDict(i)));
  if (!forward->hasAttr("kernel.arena_bytes_per_row"))
    forward.walk([&](Operation *op) {
      if (auto keep = dyn_cast<KeepOp>(op))
        addKept(keep, signature);
      if (auto similarity = dyn_cast<SimilarityOp>(op))
        signature.outputs.push_back(
            namedOutput(similarity.getName(), {-1, -1}));
    });
  forward.walk([&](ScheduleOp op) {
    signature.scales.push_back(
        {op.getName().str(), op.getFrom().convertToDouble(),
         op.getTo().convertToDouble(), int64_t(op.getSteps())});
  });
  if (auto model = forward->getParentOfType<transformer::ModelOp>()) {
    if (auto tokens = model->getAttrOfType<IntegerAttr>("max_tokens"))
      signature.maxTokens = tokens.getInt();
    if (auto tokens = model->getAttrOfType<IntegerAttr>("max_decoder_tokens"))
      signature.maxDecoderTokens = tokens.getInt();
  }
  return signature;
}

} // namespace mille::kernel

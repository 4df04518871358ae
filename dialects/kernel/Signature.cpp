// Reads the signature of an entry, on tensors and on memrefs.
// Must read attributes only; verifiers have checked that they are present.
#include "dialects/kernel/Signature.h"
#include "dialects/kernel/RowSpace.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace mille::kernel {
namespace {

TensorInfo describe(Type type, DictionaryAttr attributes) {
  TensorInfo info;
  auto shaped = dyn_cast<ShapedType>(type);
  if (shaped && shaped.getElementType().isF32())
    info.element = PortElement::f32;
  else if (shaped && shaped.getElementType().isBF16())
    info.element = PortElement::bf16;
  else if (shaped && shaped.getElementType().isF16())
    info.element = PortElement::f16;
  else if (shaped && shaped.getElementType().isInteger(8))
    info.element = PortElement::i8;
  if (!attributes)
    return info;
  if (auto name = attributes.getAs<StringAttr>("transformer.name"))
    info.name = name.str();
  if (auto fallback = attributes.getAs<StringAttr>("transformer.default"))
    info.fallback = fallback.str();
  if (auto below = attributes.getAs<IntegerAttr>("transformer.below"))
    info.below = below.getInt();
  if (auto shape =
          attributes.getAs<transformer::ShapeAttr>("transformer.shape"))
    info.shape = shape.getShape();
  info.grid = attributes.getAs<transformer::GridAttr>("transformer.grid");
  return info;
}

// The number of entries of a keep's output, judged by this keep.
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

TensorInfo namedOutput(StringRef name, ArrayRef<ShapeExtent> shape) {
  TensorInfo info;
  info.name = name.str();
  info.element = PortElement::f32;
  info.shape.append(shape.begin(), shape.end());
  return info;
}

// A keep's output has as many entries as its highest index needs.
void addKept(KeepOp keep, Signature &signature) {
  int64_t number = signature.find(keep.getName());
  if (number < 0) {
    auto space = rowSpaceOf(keep.getInput());
    auto type = cast<ShapedType>(keep.getInput().getType());
    number = signature.outputs.size();
    signature.outputs.push_back(
        namedOutput(keep.getName(),
                    {ShapeExtent(0), ShapeExtent(sizes::batch),
                     space ? space->perSequence() : ShapeExtent(sizes::tokens),
                     ShapeExtent(type.getShape().back())}));
  }
  int64_t &entries = signature.outputs[number].shape[0].count;
  entries = std::max(entries, entriesOf(keep));
}

} // namespace

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

Shape portShape(Type type, Attribute declared) {
  if (auto shape = dyn_cast_or_null<transformer::ShapeAttr>(declared))
    return shape.getShape();
  Shape shape;
  for (auto [i, extent] : llvm::enumerate(cast<ShapedType>(type).getShape()))
    shape.push_back(!ShapedType::isDynamic(extent) ? ShapeExtent(extent)
                    : i == 0 ? ShapeExtent(sizes::batch)
                             : ShapeExtent(sizes::tokens));
  return shape;
}

StringRef sizeName(func::FuncOp entry, unsigned number) {
  auto name = entry.getArgAttrOfType<StringAttr>(number, "kernel.size");
  return name ? name.getValue() : StringRef();
}

unsigned sizeArguments(func::FuncOp entry) {
  unsigned count = 0;
  while (count < entry.getNumArguments() && !sizeName(entry, count).empty())
    ++count;
  return count;
}

BlockArgument sizeArgument(func::FuncOp entry, StringRef name) {
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    if (sizeName(entry, i) == name)
      return entry.getArgument(i);
  return {};
}

// What the model of `entry` takes at most of a size, or null.
static IntegerAttr mostOf(func::FuncOp entry, StringRef size) {
  auto model = entry->getParentOfType<transformer::ModelOp>();
  return model ? model->getAttrOfType<IntegerAttr>(("max_" + size).str())
               : IntegerAttr();
}

std::optional<int64_t> mostOf(Value amount) {
  if (auto argument = dyn_cast<BlockArgument>(amount)) {
    auto entry = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (!entry || argument.getArgNumber() >= sizeArguments(entry))
      return std::nullopt;
    IntegerAttr most = mostOf(entry, sizeName(entry, argument.getArgNumber()));
    return most ? std::optional(most.getInt()) : std::nullopt;
  }
  APInt constant;
  if (matchPattern(amount, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  Operation *op = amount.getDefiningOp();
  const bool adds = isa<arith::AddIOp>(op);
  if (!adds && !isa<arith::MulIOp>(op))
    return std::nullopt;
  std::optional<int64_t> left = mostOf(op->getOperand(0)),
                         right = mostOf(op->getOperand(1));
  int64_t most;
  if (!left || !right ||
      (adds ? llvm::AddOverflow(*left, *right, most)
            : llvm::MulOverflow(*left, *right, most)))
    return std::nullopt;
  return most;
}

StringRef wordOf(PortElement element) {
  switch (element) {
  case PortElement::i32:
    return "i32";
  case PortElement::f32:
    return "f32";
  case PortElement::bf16:
    return "bf16";
  case PortElement::i8:
    return "i8";
  case PortElement::f16:
    return "f16";
  }
  return "";
}

bool isState(func::FuncOp entry, unsigned number) {
  return !!entry.getArgAttr(number, "transformer.state");
}

BlockArgument maskOf(func::FuncOp entry) {
  for (BlockArgument argument : entry.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto word =
        entry.getArgAttrOfType<StringAttr>(number, "transformer.default");
    if (word && word.getValue() == "ones" &&
        portShape(argument.getType(),
                  entry.getArgAttr(number, "transformer.shape")) ==
            Shape{sizes::batch, sizes::tokens})
      return argument;
  }
  return {};
}

template <typename Info>
static int64_t numberOf(ArrayRef<Info> all, StringRef name) {
  for (auto [number, info] : llvm::enumerate(all))
    if (info.name == name)
      return number;
  return -1;
}
int64_t SharedSignature::size(StringRef name) const {
  return numberOf<SizeInfo>(sizes, name);
}
int64_t SharedSignature::state(StringRef name) const {
  return numberOf<TensorInfo>(states, name);
}
int64_t SharedSignature::scale(StringRef name) const {
  return numberOf<ScheduledScale>(scales, name);
}

int64_t Signature::find(StringRef output) const {
  return numberOf<TensorInfo>(outputs, output);
}

const SizeInfo *Signature::size(StringRef name) const {
  auto found = llvm::find_if(
      sizes, [&](const SizeInfo &size) { return size.name == name; });
  return found == sizes.end() ? nullptr : &*found;
}

namespace {

// Collects the sizes in shapes, each with the model's maximum.
class SizeList {
public:
  explicit SizeList(func::FuncOp entry) : entry(entry) {
    add(sizes::batch, true);
  }

  SizeInfo &add(StringRef name, bool ofRuns) {
    for (SizeInfo &known : found)
      if (known.name == name)
        return known;
    IntegerAttr most = mostOf(entry, name);
    found.push_back({name.str(), most ? most.getInt() : 0, ofRuns});
    return found.back();
  }

  // The sizes of an image, and the one that follows from them.
  void addGrid(const TensorInfo &image) {
    SizeRule rule;
    rule.prefix = image.grid.getPrefix();
    for (unsigned axis : {0, 1}) {
      SizeInfo &side = add(image.shape[2 + axis].size, true);
      side.multiple = image.grid.getMultiple(axis);
      side.own = image.grid.getOwn()[axis];
      side.least = image.grid.getLeastOf(axis);
      rule.from[axis] = side.name;
      rule.step[axis] = image.grid.getPatch()[axis];
    }
    add(image.grid.getTokens(), true).rule = rule;
    for (transformer::PartAttr part : image.grid.getParts()) {
      rule.step[0] = part.getSide()[0];
      rule.step[1] = part.getSide()[1];
      rule.each = part.getEach();
      rule.up = true;
      add(part.getTokens(), true).rule = rule;
    }
  }

  std::vector<SizeInfo> found;

private:
  func::FuncOp entry;
};

} // namespace

static std::vector<SizeInfo> sizesIn(const Signature &signature,
                                     func::FuncOp entry) {
  SizeList list(entry);
  for (auto *tensors :
       {&signature.inputs, &signature.outputs, &signature.states})
    for (const TensorInfo &info : *tensors) {
      for (const ShapeExtent &extent : info.shape)
        if (extent.isSize())
          list.add(extent.size, tensors != &signature.states);
      if (info.grid)
        list.addGrid(info);
    }
  return list.found;
}

static int64_t numberOf(func::FuncOp forward, StringRef name, int64_t absent) {
  auto attribute = forward->getAttrOfType<IntegerAttr>(name);
  return attribute ? attribute.getInt() : absent;
}

ArenaSizes arenaSizesOf(func::FuncOp forward) {
  return {numberOf(forward, "kernel.arena_bytes_per_row", 0),
          numberOf(forward, "kernel.arena_fixed_bytes", 0),
          numberOf(forward, "kernel.fixed_tokens", 0),
          numberOf(forward, "kernel.slots", 1),
          forward->hasAttr("kernel.state_rows")};
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
    (isState(forward, i) ? signature.states
     : output            ? signature.outputs
                         : signature.inputs)
        .push_back(std::move(info));
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
            namedOutput(similarity.getName(), {ShapeExtent(sizes::batch),
                                               ShapeExtent(sizes::batch)}));
    });
  forward.walk([&](ScheduleOp op) {
    signature.scales.push_back(
        {op.getName().str(), op.getFrom().convertToDouble(),
         op.getTo().convertToDouble(), int64_t(op.getSteps())});
  });
  signature.sizes = sizesIn(signature, forward);
  return signature;
}

template <typename Info>
static void addNew(std::vector<Info> &all, ArrayRef<Info> more) {
  for (const Info &info : more)
    if (numberOf<Info>(all, info.name) < 0)
      all.push_back(info);
}

SharedSignature sharedSignatureOf(Operation *model) {
  SharedSignature shared;
  for (func::FuncOp entry : entriesOf(model)) {
    Signature own = signatureOf(entry);
    addNew<SizeInfo>(shared.sizes, own.sizes);
    addNew<TensorInfo>(shared.states, own.states);
    addNew<ScheduledScale>(shared.scales, own.scales);
  }
  return shared;
}

} // namespace mille::kernel

// Cuts an imported model to a small one with some of its layers and a stream as
// input, to measure rewrites. Must not change the results of kept layers.
#include "compiler/rewrite/Sample.h"
#include "dialects/transformer/Grid.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;
using namespace mille;
using namespace mille::rewrite;
using namespace mille::transformer;

namespace {

using Layer = SmallVector<ResidualOp>;

// Consecutive units with the same `layer`.
SmallVector<Layer> layersOf(Block &block) {
  SmallVector<Layer> layers;
  for (auto unit : block.getOps<ResidualOp>()) {
    bool continues =
        !layers.empty() && unit.getLayer() &&
        unit.getInput() == layers.back().back().getResult() &&
        unit.getLayer() == ResidualOp(layers.back().back()).getLayer();
    if (!continues)
      layers.emplace_back();
    layers.back().push_back(unit);
  }
  return layers;
}

std::string opsOf(const Layer &layer) {
  std::string words;
  for (ResidualOp unit : layer)
    unit->walk([&](Operation *op) {
      words += op->getName().getStringRef().str() + " ";
    });
  return words;
}

void dropLayers(Block &block, Sample &sample) {
  std::map<std::string, int> kept;
  for (const Layer &layer : layersOf(block)) {
    ++sample.ofLayers;
    if (++kept[opsOf(layer)] <= 2) {
      ++sample.layers;
      sample.units += layer.size();
      continue;
    }
    for (ResidualOp unit : layer) {
      unit.getResult().replaceAllUsesWith(unit.getInput());
      unit.erase();
    }
  }
}

// All ops of the function's block that `value` depends on.
void collectOrigins(Value value, llvm::DenseSet<Value> &origins) {
  if (!origins.insert(value).second || !value.getDefiningOp())
    return;
  for (Value operand : value.getDefiningOp()->getOperands())
    collectOrigins(operand, origins);
}

// The tokens of an image of any size follow from its pixels: only these say how
// many there are.
bool readsImageOfAnySize(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && gridOf(argument);
}

void feedStream(func::FuncOp function, Value stream, Sample &sample) {
  llvm::DenseSet<Value> origins;
  collectOrigins(stream, origins);
  auto type = cast<RankedTensorType>(stream.getType());
  if (type.getRank() != 3 || llvm::any_of(origins, [](Value value) {
        return value.getDefiningOp<ResidualOp>() || readsImageOfAnySize(value);
      }))
    return;
  Builder builder(function.getContext());
  std::string name = "stream";
  if (++sample.streams > 1)
    name += "." + std::to_string(sample.streams);
  SmallVector<NamedAttribute> words{
      builder.getNamedAttr("transformer.name", builder.getStringAttr(name))};
  // The stream has the tokens of the ids from which it was computed: any order
  // gives that shape.
  for (Value value : origins) {
    auto argument = dyn_cast<BlockArgument>(value);
    auto ids = argument ? function.getArgAttrOfType<ShapeAttr>(
                              argument.getArgNumber(), "transformer.shape")
                        : ShapeAttr();
    if (!ids || !ids.has(sizes::decoderTokens))
      continue;
    Shape shape{sizes::batch, sizes::decoderTokens, type.getShape().back()};
    words.push_back(builder.getNamedAttr(
        "transformer.shape", ShapeAttr::get(builder.getContext(), shape)));
    break;
  }
  unsigned at = function.getNumArguments();
  (void)function.insertArgument(at, type, builder.getDictionaryAttr(words),
                                function.getLoc());
  stream.replaceAllUsesWith(function.getArgument(at));
}

// Removes parameters that no op reads, directly or through other parameters.
// Returns the number of elements of the remaining ones.
int64_t keepParametersRead(ModelOp model) {
  SymbolTable symbols(model);
  llvm::SetVector<Operation *> read;
  auto collect = [&](Attribute attribute) {
    attribute.walk([&](FlatSymbolRefAttr symbol) {
      if (auto parameter = symbols.lookup<ParameterOp>(symbol.getValue()))
        read.insert(parameter);
    });
  };
  model.walk([&](Operation *op) {
    if (!isa<ParameterOp>(op))
      collect(op->getAttrDictionary());
  });
  int64_t count = 0;
  for (size_t i = 0; i < read.size(); ++i) {
    auto parameter = cast<ParameterOp>(read[i]);
    count += cast<ShapedType>(parameter.getType()).getNumElements();
    collect(parameter.getValue());
  }
  for (auto parameter : llvm::to_vector(model.getBody().getOps<ParameterOp>()))
    if (!read.contains(parameter))
      parameter.erase();
  return count;
}

// The rows of a weight: all extents but the last.
int64_t rowsOf(ParameterOp parameter) {
  auto type = cast<ShapedType>(parameter.getType());
  return type.getNumElements() / type.getShape().back();
}

// Whether the value of a parameter is made of others.
bool readsOthers(ParameterOp parameter) {
  return parameter.getValue()
      .walk([](FlatSymbolRefAttr) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

// The value with all rows zero but `run` of each run * stride.
Attribute thinned(ParameterOp parameter, int64_t run, int64_t stride) {
  MLIRContext *context = parameter.getContext();
  ArrayRef<int64_t> shape = cast<ShapedType>(parameter.getType()).getShape();
  SmallVector<int64_t> from(rowsOf(parameter), -1); // a row of zeros
  for (int64_t row = 0; row < int64_t(from.size()); ++row)
    if (row % (run * stride) < run)
      from[row] = row;
  auto shaped = [&](Attribute value, ArrayRef<int64_t> to) -> Attribute {
    if (shape.size() == 2)
      return value;
    return ReshapeAttr::get(context, value,
                            DenseI64ArrayAttr::get(context, to));
  };
  Attribute rows =
      shaped(parameter.getValue(), {int64_t(from.size()), shape.back()});
  return shaped(
      GatherAttr::get(context, rows, DenseI64ArrayAttr::get(context, from)),
      shape);
}

// Of the rows of a parameter `columns`, evenly spread, as one more parameter.
FlatSymbolRefAttr someRows(ModelOp model, FlatSymbolRefAttr name,
                           int64_t columns) {
  std::string fewer = (name.getValue() + ".some").str();
  SymbolTable symbols(model);
  auto whole = symbols.lookup<ParameterOp>(name.getValue());
  if (!symbols.lookup(fewer)) {
    auto type = cast<RankedTensorType>(whole.getType());
    SmallVector<int64_t> shape(type.getShape());
    const int64_t stride = shape[0] / columns;
    shape[0] = columns;
    OpBuilder builder(whole);
    ParameterOp::create(builder, whole.getLoc(), fewer,
                        RankedTensorType::get(shape, type.getElementType()),
                        SliceAttr::get(model.getContext(), whole.getValue(), 0,
                                       0, columns, stride),
                        whole.getDtypeAttr(), DenseI64ArrayAttr());
  }
  return FlatSymbolRefAttr::get(model.getContext(), fewer);
}

// The linear that an output is, but for functions of one number.
LinearOp headOf(Value output) {
  while (output && output.hasOneUse())
    if (auto softcap = output.getDefiningOp<SoftcapOp>())
      output = softcap.getInput();
    else
      return output.getDefiningOp<LinearOp>();
  return {};
}

void cutHeads(ModelOp model, func::FuncOp function, Sample &sample) {
  constexpr int64_t columns = 256;
  Operation *end = function.front().getTerminator();
  for (OpOperand &use : end->getOpOperands()) {
    LinearOp head = headOf(use.get());
    if (!head || head.getExperts() || head.getTransposed())
      continue;
    SmallVector<int64_t> shape(head.getResult().getType().getShape());
    if (shape.back() < 2 * columns)
      continue;
    sample.columns = shape.back() = columns;
    head.setWeightAttr(someRows(model, head.getWeightAttr(), columns));
    if (head.getBiasAttr())
      head.setBiasAttr(someRows(model, head.getBiasAttr(), columns));
    for (Value value = use.get();;
         value = value.getDefiningOp()->getOperand(0)) {
      value.setType(cast<RankedTensorType>(value.getType()).clone(shape));
      if (value == head.getResult())
        break;
    }
    const unsigned i = use.getOperandNumber();
    if (auto named =
            function.getResultAttrOfType<ShapeAttr>(i, "transformer.shape")) {
      Shape extents = named.getShape();
      extents.back() = columns;
      function.setResultAttr(i, "transformer.shape",
                             ShapeAttr::get(model.getContext(), extents));
    }
  }
  function.setType(FunctionType::get(
      model.getContext(), function.getArgumentTypes(), end->getOperandTypes()));
}

} // namespace

void mille::rewrite::cutOutputs(ModelOp model, Sample &sample) {
  for (auto function : model.getBody().getOps<func::FuncOp>())
    cutHeads(model, function, sample);
  sample.parameters = keepParametersRead(model);
}

void mille::rewrite::thin(ModelOp model, int64_t most, Sample &sample) {
  constexpr int64_t longestRun = 64; // rows of a usual head
  SmallVector<ParameterOp> weights;
  int64_t numbers = 0;
  for (auto parameter : model.getBody().getOps<ParameterOp>()) {
    auto type = cast<ShapedType>(parameter.getType());
    if (type.getRank() < 2 || readsOthers(parameter))
      continue;
    weights.push_back(parameter);
    numbers += type.getNumElements();
  }
  sample.thinned = std::max<int64_t>(
      llvm::divideCeil(numbers, std::max<int64_t>(most, 1)), 1);
  if (sample.thinned == 1)
    return;
  for (ParameterOp weight : weights)
    weight.setValueAttr(thinned(
        weight,
        std::clamp<int64_t>(rowsOf(weight) / sample.thinned, 1, longestRun),
        sample.thinned));
}

Sample mille::rewrite::cutToSample(ModelOp model) {
  Sample sample;
  for (auto function : model.getBody().getOps<func::FuncOp>()) {
    for (auto keep : llvm::to_vector(function.getOps<KeepOp>()))
      keep.erase();
    dropLayers(function.front(), sample);
    llvm::SetVector<Value> starts;
    for (auto unit : function.getOps<ResidualOp>())
      if (!unit.getInput().getDefiningOp<ResidualOp>())
        starts.insert(unit.getInput());
    for (Value start : starts)
      feedStream(function, start, sample);
    // Tables of what the stream replaces are not read.
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(function.front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }
  sample.parameters = keepParametersRead(model);
  return sample;
}

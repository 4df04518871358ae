// Cuts an imported model to a small one with some of its layers and a stream as
// input, to measure rewrites. Must not change the results of kept layers.
#include "compiler/rewrite/Sample.h"
#include "dialects/transformer/Grid.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

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

} // namespace

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
  }
  sample.parameters = keepParametersRead(model);
  return sample;
}

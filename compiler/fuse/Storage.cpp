// Follows a weight's expression, and its symbols in each layer, to what is
// stored. Must not evaluate a weight.
#include "compiler/fuse/Storage.h"

using namespace mlir;
using namespace mille;
using transformer::ParameterOp;

namespace {

class Find {
public:
  explicit Find(kernel::WeightOp weight)
      : model(weight->getParentOfType<transformer::ModelOp>()) {
    auto layers = weight->getParentOfType<kernel::LayersOp>();
    Operation *inner = weight;
    while (layers && inner->getParentOp() != layers)
      inner = inner->getParentOp();
    follow(weight.getValue(), layers,
           layers ? inner->getParentRegion()->getRegionNumber() : 0);
  }

  std::set<std::string> words;

private:
  void follow(Attribute value, kernel::LayersOp layers, int64_t body) {
    value.walk([&](Attribute part) {
      if (auto stored = dyn_cast<transformer::StoredAttr>(part))
        words.insert(stringifyEncoding(stored.getEncoding()).str());
      else if (auto name = dyn_cast<FlatSymbolRefAttr>(part))
        symbol(name, layers, body);
    });
  }

  // A column of the layer table has a value for each layer.
  void symbol(FlatSymbolRefAttr name, kernel::LayersOp layers, int64_t body) {
    if (layers && layers.columnNamed(body, name.getAttr())) {
      for (size_t layer : layers.layersOf(body))
        follow(layers.entryOf(layer, name), {}, 0);
      return;
    }
    auto parameter =
        dyn_cast_or_null<ParameterOp>(tables.lookupSymbolIn(model, name));
    if (!parameter)
      return;
    if (auto dtype = parameter.getDtype())
      words.insert(dtype->str());
    follow(parameter.getValue(), {}, 0);
  }

  transformer::ModelOp model;
  SymbolTableCollection tables;
};

} // namespace

std::set<std::string> mille::storageOf(kernel::WeightOp weight) {
  return Find(weight).words;
}

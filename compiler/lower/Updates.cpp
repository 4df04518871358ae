// The calls of mille_update in a layer. A gradient that is used up soon after
// it is made is still in the cache, and the next ones share its memory.
// Must not move an op.
#include "compiler/lower/Updates.h"
#include "dialects/kernel/Updates.h"

using namespace mlir;
using namespace mille;
using kernel::GradientOp;
using kernel::LayersOp;
using kernel::WeightOp;

namespace {

// Numbers that make a call worth its while: 1 MiB of a gradient.
constexpr int64_t leastNumbers = 1 << 18;

// What a body uses of a parameter.
struct Use {
  Operation *last = nullptr; // op of the body's block
  int64_t numbers = 0;       // of the gradient
};

class Uses {
public:
  Uses(LayersOp layers, unsigned body)
      : layers(layers), block(layers->getRegion(body).front()) {}

  // The last use of a parameter, whichever columns name it.
  llvm::DenseMap<Attribute, Use> ofLayer(size_t layer) {
    llvm::DenseMap<Attribute, Use> uses;
    block.walk([&](Operation *op) {
      if (auto gradient = dyn_cast<GradientOp>(op)) {
        Use &use = uses[meaning(layer, gradient.getParameterAttr())];
        use.numbers =
            cast<ShapedType>(gradient->getResult(0).getType()).getNumElements();
        extend(use, op);
      } else if (auto weight = dyn_cast<WeightOp>(op)) {
        transformer::replaceSymbols(weight.getValue(),
                                    [&](FlatSymbolRefAttr symbol) -> Attribute {
                                      extend(uses[meaning(layer, symbol)], op);
                                      return symbol;
                                    });
      }
    });
    return uses;
  }

  Attribute meaning(size_t layer, FlatSymbolRefAttr symbol) {
    return layers.entryOf(layer, symbol);
  }

private:
  // Moves the last use to that of a value, and of what is made of it in its
  // memory.
  void extend(Use &use, Operation *maker) {
    Operation *at = block.findAncestorOpInBlock(*maker);
    if (!use.last || use.last->isBeforeInBlock(at))
      use.last = at;
    for (Operation *user : maker->getUsers())
      extend(use, user);
  }

  LayersOp layers;
  Block &block;
};

} // namespace

SmallVector<lower::Update> lower::updatesOf(LayersOp layers, unsigned body) {
  ArrayRef<Attribute> columns = kernel::updatedColumns(layers);
  if (columns.empty())
    return {};
  Uses uses(layers, body);
  SmallVector<Use> last(columns.size());
  for (size_t layer : layers.layersOf(body)) {
    llvm::DenseMap<Attribute, Use> all = uses.ofLayer(layer);
    for (auto [use, column] : llvm::zip_equal(last, columns)) {
      const Use own =
          all.lookup(uses.meaning(layer, cast<FlatSymbolRefAttr>(column)));
      use.numbers = own.numbers;
      if (own.last && (!use.last || use.last->isBeforeInBlock(own.last)))
        use.last = own.last;
    }
  }
  SmallVector<Update> updates;
  SmallVector<Attribute> whole;
  int64_t numbers = 0;
  Block &block = layers->getRegion(body).front();
  for (Operation &op : block.without_terminator()) {
    for (auto [use, column] : llvm::zip_equal(last, columns))
      if (use.last == &op && use.numbers) {
        whole.push_back(column);
        numbers += use.numbers;
      }
    if (numbers < leastNumbers)
      continue;
    updates.push_back({&op, std::move(whole)});
    whole.clear();
    numbers = 0;
  }
  if (!whole.empty())
    updates.push_back({&*std::prev(block.end(), 2), std::move(whole)});
  return updates;
}

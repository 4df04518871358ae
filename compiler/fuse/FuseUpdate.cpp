// Finds the parameters whose gradients are whole, and which nothing reads any
// more, when a reversed loop leaves a layer: the attribute kernel.updates.
// Must not move an op: a trainer decides when it updates.
#include "compiler/fuse/Passes.h"
#include "dialects/kernel/Updates.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace mille {
#define GEN_PASS_DEF_FUSEUPDATE
#include "compiler/fuse/Passes.h.inc"
} // namespace mille

using namespace mlir;
using namespace mille;
using kernel::GradientOp;
using kernel::LayersOp;
using kernel::WeightOp;

namespace {

// Calls `use` with the layer, and with what a symbol of an op stands for there;
// outside of loops once, with layer 0.
template <typename Use>
void eachMeaning(Operation *op, FlatSymbolRefAttr symbol, Use use) {
  auto layers = op->getParentOfType<LayersOp>();
  if (!layers)
    return use(size_t(0), Attribute(symbol));
  Region *body = op->getParentRegion();
  while (body->getParentOp() != layers)
    body = body->getParentOp()->getParentRegion();
  for (size_t layer : layers.layersOf(body->getRegionNumber()))
    use(layer, layers.entryOf(layer, symbol));
}

// Where a parameter's gradient is added to: a layer of a loop.
struct Place {
  LayersOp loop; // null: outside of loops
  size_t layer = 0;
  StringRef why; // not the only place, or read later; empty: neither
};

class Search {
public:
  explicit Search(func::FuncOp function) : function(function) {}

  void run() {
    function.walk([&](GradientOp op) { addTo(op); });
    if (places.empty())
      return;
    function.walk([&](WeightOp op) { read(op); });
    function.walk([&](LayersOp loop) { mark(loop); });
  }

private:
  void addTo(GradientOp op) {
    auto loop = op->getParentOfType<LayersOp>();
    eachMeaning(op, op.getParameterAttr(), [&](size_t layer, Attribute entry) {
      auto [at, fresh] = places.try_emplace(entry, Place{loop, layer, ""});
      if (!fresh && (at->second.loop != loop || at->second.layer != layer))
        at->second.why = "its gradient is added to in several places";
    });
  }

  void read(WeightOp op) {
    transformer::replaceSymbols(
        op.getValue(), [&](FlatSymbolRefAttr symbol) -> Attribute {
          eachMeaning(op, symbol, [&](size_t layer, Attribute entry) {
            auto at = places.find(entry);
            if (at != places.end() && readsAfter(op, layer, at->second))
              at->second.why = "it is read after the layer";
          });
          return symbol;
        });
  }

  // Whether an op reads a parameter, in a layer, when the parameter's own layer
  // of the loop back is done.
  static bool readsAfter(WeightOp op, size_t layer, const Place &place) {
    if (!place.loop)
      return false;
    Block *block = place.loop->getBlock();
    auto isEarlier = [&](Operation *reader) {
      Operation *at = block->findAncestorOpInBlock(*reader);
      return at && at != place.loop && at->isBeforeInBlock(place.loop);
    };
    auto loop = op->getParentOfType<LayersOp>();
    if (loop == place.loop)
      return layer < place.layer;
    if (loop)
      return !isEarlier(loop);
    return !llvm::all_of(op->getUsers(), isEarlier);
  }

  void mark(LayersOp loop) {
    if (!loop.getReverse())
      return;
    // Why not, for each column with a gradient.
    llvm::MapVector<Attribute, StringRef> columns;
    loop.walk([&](GradientOp op) {
      FlatSymbolRefAttr symbol = op.getParameterAttr();
      StringRef &why = columns[symbol];
      eachMeaning(op, symbol, [&](size_t, Attribute entry) {
        if (why.empty())
          why = entry == symbol ? "all layers add to its gradient"
                                : places.lookup(entry).why;
      });
    });
    SmallVector<Attribute> whole;
    for (auto &[column, why] : columns)
      if (why.empty())
        whole.push_back(column);
      else
        remark::missed(loop.getLoc(),
                       remark::RemarkOpts::name("FuseUpdate").category("fuse"))
            << llvm::formatv("{0} is updated at the end of a step: {1}",
                             cast<FlatSymbolRefAttr>(column).getValue(), why)
                   .str();
    if (!whole.empty())
      loop->setAttr(kernel::updatesName,
                    ArrayAttr::get(loop.getContext(), whole));
  }

  func::FuncOp function;
  llvm::DenseMap<Attribute, Place> places;
};

struct FuseUpdate : mille::impl::FuseUpdateBase<FuseUpdate> {
  void runOnOperation() override {
    for (auto function : getOperation().getBody().getOps<func::FuncOp>())
      Search(function).run();
  }
};

} // namespace

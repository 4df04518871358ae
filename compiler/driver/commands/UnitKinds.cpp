// Finds the kinds of units that a model has. Must not describe them.
#include "compiler/driver/commands/UnitKinds.h"

#include "dialects/kernel/Signature.h"

using namespace mille;
using namespace mille::transformer;

// The units of one stack, layer by layer. A layer number that falls begins the
// next stack.
struct Stack {
  std::vector<std::vector<ResidualOp>> layers;
};

// The stacks of the first entry; other entries have the same units.
static std::vector<Stack> stacksOf(mlir::Operation *model) {
  std::vector<Stack> stacks;
  int64_t last = INT64_MAX;
  kernel::forwardOf(model).walk([&](ResidualOp unit) {
    int64_t layer = unit.getLayer().value_or(0);
    if (layer < last)
      stacks.push_back({});
    if (layer != last)
      stacks.back().layers.push_back({});
    stacks.back().layers.back().push_back(unit);
    last = layer;
  });
  return stacks;
}

// The kinds among the i-th units of all layers, the most frequent first.
static std::vector<UnitKind> kindsOf(const Stack &stack, size_t i,
                                     const Dimensions &model) {
  std::vector<UnitKind> kinds;
  for (auto [number, units] : llvm::enumerate(stack.layers)) {
    if (i >= units.size())
      continue;
    Facts facts = factsOf(units[i], model);
    auto known = llvm::find_if(
        kinds, [&](UnitKind &kind) { return kind.facts == facts; });
    if (known == kinds.end())
      known = kinds.insert(kinds.end(),
                           {slotsOf(units[i], model), std::move(facts), {}});
    known->layers.push_back(number);
  }
  llvm::sort(kinds, [](const UnitKind &a, const UnitKind &b) {
    return a.layers.size() != b.layers.size()
               ? a.layers.size() > b.layers.size()
               : a.layers.front() < b.layers.front();
  });
  return kinds;
}

static bool isCausal(const Stack &stack) {
  return llvm::any_of(stack.layers, [](const auto &units) {
    return llvm::any_of(units, [](ResidualOp unit) {
      return unit
          .walk([](mlir::Operation *op) {
            auto attend = llvm::dyn_cast<AttendOp>(op);
            return (attend && attend.getMask() == Mask::causal) ||
                           llvm::isa<LinearAttendOp>(op)
                       ? mlir::WalkResult::interrupt()
                       : mlir::WalkResult::advance();
          })
          .wasInterrupted();
    });
  });
}

UnitKinds mille::unitKindsOf(mlir::Operation *model) {
  std::vector<Stack> stacks = stacksOf(model);
  auto hidden = model->getAttrOfType<mlir::IntegerAttr>("hidden_size");
  UnitKinds all;
  for (auto [number, stack] : llvm::enumerate(stacks)) {
    Dimensions dimensions{int64_t(stack.layers.size()), 0,
                          hidden ? hidden.getInt() : 0, isCausal(stack)};
    if (stacks.size() == 2)
      dimensions.otherLayers = stacks[1 - number].layers.size();
    size_t places = 0;
    for (auto &layer : stack.layers)
      places = std::max(places, layer.size());
    all.emplace_back();
    for (size_t i = 0; i < places; ++i)
      all.back().push_back(kindsOf(stack, i, dimensions));
  }
  return all;
}

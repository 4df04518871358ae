// A layer hands over what it makes in f32 and in bf16, where every layer begins
// with that copy. Must not look at what copies are for.
#include "compiler/plan/Lives.h"
#include "compiler/plan/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

namespace mille::plan {
#define GEN_PASS_DEF_CARRYCOPIES
#include "compiler/plan/Passes.h.inc"
} // namespace mille::plan

using namespace mlir;
using namespace mille::kernel;
using namespace mille::plan;

namespace {

bool isCopyOf(Value value, RowsOp op) {
  return !op.getNorm() && op.getInputs().size() == 1 &&
         op.getInputs()[0] == value && op.getIndices().empty() &&
         !cast<ShapedType>(op.getOut().getType()).getElementType().isF32() &&
         op.getBody().front().getTerminator()->getOperand(0) ==
             op.getBody().getArgument(0);
}

// The copy of an argument in its body, whole; null where there is none.
RowsOp copyIn(BlockArgument argument) {
  for (Operation *user : argument.getUsers())
    if (auto op = dyn_cast<RowsOp>(user);
        op && op->getBlock() == argument.getOwner() && isCopyOf(argument, op))
      return op;
  return RowsOp();
}

// A copy of `value` where it is made: in its launch, which hands it out, or
// before `builder`.
Value copyOf(Value value, RankedTensorType type, OpBuilder builder) {
  auto destination = [&](OpBuilder &at, Value like) -> Value {
    auto room = like.getDefiningOp<tensor::EmptyOp>();
    return tensor::EmptyOp::create(at, value.getLoc(), type,
                                   room.getDynamicSizes());
  };
  Value root = rootOf(value);
  auto maker = root.getDefiningOp<DestinationStyleOpInterface>();
  auto launch = value.getDefiningOp<LaunchOp>();
  Value like = maker.getDpsInits().back();
  if (!launch || maker->getParentOp() != launch)
    return copyRows(builder, value.getLoc(), value, destination(builder, like))
        .getResult();
  OpBuilder inside(launch.getContext());
  inside.setInsertionPointAfter(maker);
  Value copy = copyRows(inside, value.getLoc(), root, destination(inside, like))
                   .getResult();
  Operation *yield = launch.getBody().front().getTerminator();
  yield->insertOperands(yield->getNumOperands(), copy);
  OpBuilder before(launch);
  auto fresh = LaunchOp::create(before, launch.getLoc(),
                                TypeRange(yield->getOperands()));
  fresh.getBody().takeBody(launch.getBody());
  fresh->setDiscardableAttrs(launch->getDiscardableAttrDictionary());
  launch->replaceAllUsesWith(fresh->getResults().drop_back());
  launch.erase();
  return fresh->getResults().back();
}

// Whether a copy can be made of it: a kernel makes it, into a destination of
// its own.
bool isMade(Value value) {
  auto maker = rootOf(value).getDefiningOp<DestinationStyleOpInterface>();
  return maker && hasDestinations(maker) &&
         maker.getDpsInits().back().getDefiningOp<tensor::EmptyOp>();
}

class Carrier {
public:
  explicit Carrier(LayersOp loop) : loop(loop) {}

  void run() {
    for (unsigned number = 0; number < loop.getStream().size(); ++number)
      if (RankedTensorType type = copyType(number))
        carried.push_back({number, type});
    if (!carried.empty())
      rebuild();
  }

private:
  // The copies' type; null where a body has none or makes no other value.
  RankedTensorType copyType(unsigned number) {
    if (!isMade(loop.getStream()[number]))
      return {};
    RankedTensorType type;
    for (Region &body : loop.getBodyRegions()) {
      RowsOp copy = copyIn(body.getArgument(number));
      if (!copy || !isMade(body.front().getTerminator()->getOperand(number)))
        return {};
      type = cast<RankedTensorType>(copy.getOut().getType());
    }
    return type;
  }

  void rebuild() {
    OpBuilder builder(loop);
    for (auto [number, type] : carried) {
      // The launch that makes the initial value may be replaced.
      Value copy = copyOf(loop.getStream()[number], type, builder);
      SmallVector<Value> all(loop.getStream());
      all.push_back(copy);
      loop.getStreamMutable().assign(all);
      for (Region &body : loop.getBodyRegions())
        carryIn(body.front(), number, type);
    }
    OperationState state(loop.getLoc(), LayersOp::getOperationName());
    LayersOp::build(builder, state, TypeRange(ValueRange(loop.getStream())),
                    loop.getStream(), loop.getSlots(), loop.getBodies(),
                    loop.getTable(), loop.getReverse(), loop->getNumRegions());
    for (auto [from, into] : llvm::zip(loop->getRegions(), state.regions))
      into->takeBody(from);
    auto fresh = cast<LayersOp>(builder.create(state));
    fresh->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    loop->replaceAllUsesWith(
        fresh->getResults().take_front(loop->getNumResults()));
    loop.erase();
  }

  void carryIn(Block &body, unsigned number, RankedTensorType type) {
    RowsOp copy = copyIn(body.getArgument(number));
    Value argument = body.addArgument(type, copy.getLoc());
    copy.getResult().replaceAllUsesWith(argument);
    copy.erase();
    Operation *yield = body.getTerminator();
    Value next = copyOf(yield->getOperand(number), type, OpBuilder(yield));
    yield->insertOperands(yield->getNumOperands(), next);
  }

  LayersOp loop;
  SmallVector<std::pair<unsigned, RankedTensorType>> carried;
};

struct CarryCopies : mille::plan::impl::CarryCopiesBase<CarryCopies> {
  void runOnOperation() override {
    SmallVector<LayersOp> loops;
    getOperation().walk([&](LayersOp loop) { loops.push_back(loop); });
    for (LayersOp loop : loops)
      Carrier(loop).run();
  }
};

} // namespace

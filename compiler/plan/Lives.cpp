// Walks the program once and counts steps. A launch is one step, because its
// tasks run different ops of it at the same time: all its values are live
// together.
// Must not rewrite anything.
#include "compiler/plan/Lives.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mille::kernel;

namespace mille::plan {

bool hasDestinations(Operation *op) {
  auto kernel = dyn_cast<DestinationStyleOpInterface>(op);
  return kernel && kernel.getNumDpsInits() > 0;
}

Value rootOf(Value tensor) {
  while (auto launch = tensor.getDefiningOp<LaunchOp>()) {
    unsigned number = cast<OpResult>(tensor).getResultNumber();
    tensor = launch.getBody().front().getTerminator()->getOperand(number);
  }
  return tensor;
}

SmallVector<Value, 2> namesOf(Value root) {
  SmallVector<Value, 2> names{root};
  for (OpOperand &use : root.getUses())
    if (auto launch = dyn_cast<LaunchOp>(use.getOwner()->getParentOp()))
      if (isa<YieldOp>(use.getOwner()))
        names.append(namesOf(launch.getResult(use.getOperandNumber())));
  return names;
}

Value recalledBy(Value result) {
  auto kernel =
      dyn_cast_if_present<DestinationStyleOpInterface>(result.getDefiningOp());
  if (!kernel || !hasDestinations(kernel))
    return {};
  Value out = kernel.getTiedOpOperand(cast<OpResult>(result))->get();
  return isa_and_present<RecallOp, GradientOp>(out.getDefiningOp()) ? out
                                                                    : Value();
}

RowsOp copyRows(OpBuilder &builder, Location location, Value from, Value into) {
  TypeRange results =
      isa<RankedTensorType>(into.getType()) ? TypeRange(into) : TypeRange();
  auto rows =
      RowsOp::create(builder, location, results, ValueRange(from), ValueRange(),
                     into, builder.getDenseI64ArrayAttr({-1}), RowNormAttr());
  OpBuilder inside(rows->getContext());
  Block *block =
      inside.createBlock(&rows.getBody(), {}, inside.getF32Type(), location);
  YieldOp::create(inside, location, block->getArgument(0));
  return rows;
}

namespace {

struct Walk {
  func::FuncOp forward;
  Lives lives;
  int64_t step = 0, bodies = 0;
  int64_t body = 0;      // the body that is walked; 0: outside of loops
  int64_t blockRows = 0; // of the body that is walked; 0: the run's
  // Buffers from outside of the loop that its bodies read: they live to the end
  // of the loop.
  SmallVector<Buffer *> outerUses;
  bool failed = false;

  explicit Walk(func::FuncOp forward) : forward(forward) {}

  // The buffer of a value that lives in the arena, `times` of them.
  Buffer *make(Value value, int64_t times = 1) {
    auto type = cast<RankedTensorType>(value.getType());
    MemRefType memref = arenaType(type);
    if (blockRows || type.hasStaticShape()) {
      lives.buffers.push_back({memref, RowSpace(), /*fixed=*/true,
                               fixedBytes(memref, blockRows), step, step, body,
                               -1});
      return &lives.buffers.back();
    }
    std::optional<RowSpace> rows = rowSpaceOf(value);
    if (!rows) {
      failed = true;
      emitError(value.getLoc())
          << "rows of " << type
          << " are no product of batch, another size and numbers";
    }
    RowSpace space = rows.value_or(RowSpace());
    lives.buffers.push_back({memref, space, /*fixed=*/false,
                             times * bytesPerRow(memref, space), step, step,
                             body, -1});
    lives.bytesWithoutReuse += lives.buffers.back().bytes;
    return &lives.buffers.back();
  }

  void use(Value operand) {
    if (!isa<RankedTensorType>(operand.getType()))
      return;
    auto at = lives.bufferOf.find(rootOf(operand));
    if (at == lives.bufferOf.end())
      return;
    if (at->second->body == body)
      at->second->end = std::max(at->second->end, step);
    else
      outerUses.push_back(at->second);
  }

  void define(Operation *op) {
    if (!hasDestinations(op))
      return;
    for (Value result : op->getResults())
      if (!lives.direct.count(result) && !lives.streamOut.count(result) &&
          !lives.savedIn.count(result) && !recalledBy(result))
        lives.bufferOf[result] = make(result);
  }

  void visit(Operation &op) {
    for (Value operand : op.getOperands())
      use(operand);
    define(&op);
    if (auto saved = dyn_cast<SavedOp>(op)) {
      Buffer *buffer = lives.saved.lookup(saved.getName()).buffer;
      lives.bufferOf[saved.getResult()] = buffer;
      outerUses.push_back(buffer);
    }
  }

  // Buffers of what a loop's layers save, which live until the last loop that
  // reads them. An op of the body writes its result there, unless that has
  // another place.
  void makeSaved(LayersOp layers) {
    const int64_t count = layers.getBodies().size();
    layers.walk([&](SaveOp save) {
      auto [at, fresh] = lives.saved.try_emplace(save.getName());
      if (!fresh)
        return;
      Buffer *buffer = make(save.getInput(), count);
      at->second = {buffer, buffer->bytes / count};
    });
  }
  void chooseSavedIn(Region &region) {
    for (SaveOp save : region.front().getOps<SaveOp>()) {
      Value root = rootOf(save.getInput());
      Operation *producer = root.getDefiningOp();
      if (producer && hasDestinations(producer) && !recalledBy(root) &&
          region.isAncestor(producer->getParentRegion()) &&
          !lives.streamOut.count(root))
        lives.savedIn.try_emplace(root, save.getName());
    }
  }

  // Whether nothing reads `value` from `layers` on, except `layers`.
  bool lastReadBy(LayersOp layers, Value value) {
    for (Operation *user : value.getUsers()) {
      if (isa<YieldOp>(user) && isa<LaunchOp>(user->getParentOp())) {
        Value outcome = user->getParentOp()->getResult(
            llvm::find(user->getOperands(), value) - user->operand_begin());
        if (!lastReadBy(layers, outcome))
          return false;
        continue;
      }
      Operation *at = layers->getBlock()->findAncestorOpInBlock(*user);
      if (user != layers && (!at || !at->isBeforeInBlock(layers)))
        return false;
    }
    return true;
  }

  void visitLoop(LayersOp layers) {
    SmallVector<LoopBuffers, 1> loop;
    for (auto [stream, outcome] :
         llvm::zip(layers.getStream(), layers.getOutcomes())) {
      Value initial = rootOf(stream);
      auto type = cast<RankedTensorType>(outcome.getType());
      auto held = lives.bufferOf.find(initial);
      bool reuse = held != lives.bufferOf.end() && held->second->body == body &&
                   held->second->type == arenaType(type) &&
                   lastReadBy(layers, initial) &&
                   llvm::none_of(loop, [&](const LoopBuffers &before) {
                     return before.current == held->second;
                   });
      use(stream);
      Buffer *current = reuse ? held->second : make(stream);
      loop.push_back({current, make(stream), !reuse});
    }

    makeSaved(layers);
    int64_t start = step, end = step;
    for (Region &region : layers->getRegions()) {
      step = start;
      body = ++bodies;
      for (OpOperand &handed :
           region.front().getTerminator()->getOpOperands()) {
        Value root = rootOf(handed.get());
        if (Operation *producer = root.getDefiningOp())
          if (hasDestinations(producer) &&
              region.isAncestor(producer->getParentRegion()))
            lives.streamOut.try_emplace(root, handed.getOperandNumber());
      }
      chooseSavedIn(region);
      visitBlock(region.front());
      end = std::max(end, step);
    }
    body = 0;
    step = end + 1;
    for (LoopBuffers &handed : loop)
      outerUses.append({handed.current, handed.other});
    for (Buffer *buffer : outerUses)
      buffer->end = std::max(buffer->end, step);
    outerUses.clear();
    bool even = layers.getBodies().size() % 2 == 0;
    for (auto [outcome, handed] : llvm::zip(layers.getOutcomes(), loop))
      lives.bufferOf[outcome] = even ? handed.current : handed.other;
    lives.loops[layers] = loop;
  }

  // What a body reads from outside, and what it writes, lives as long as all
  // its blocks.
  void visitRowBlocks(RowBlocksOp blocks) {
    for (Value operand : blocks->getOperands())
      use(operand);
    define(blocks);
    body = ++bodies;
    blockRows = blocks.getRows();
    for (OpOperand &yielded :
         blocks.getBody().front().getTerminator()->getOpOperands()) {
      Value root = rootOf(yielded.get());
      if (Operation *producer = root.getDefiningOp())
        if (hasDestinations(producer) && !recalledBy(root) &&
            blocks.getBody().isAncestor(producer->getParentRegion()))
          lives.streamOut.try_emplace(root, yielded.getOperandNumber());
    }
    visitBlock(blocks.getBody().front());
    body = blockRows = 0;
    ++step;
    for (Value operand : blocks->getOperands())
      use(operand);
    for (Value result : blocks->getResults())
      use(result);
    for (Buffer *buffer : outerUses)
      buffer->end = std::max(buffer->end, step);
    outerUses.clear();
  }

  void visitBlock(Block &block) {
    for (Operation &op : block) {
      ++step;
      if (auto layers = dyn_cast<LayersOp>(op))
        visitLoop(layers);
      else if (auto blocks = dyn_cast<RowBlocksOp>(op))
        visitRowBlocks(blocks);
      else if (auto launch = dyn_cast<LaunchOp>(op))
        for (Operation &inner : launch.getBody().front())
          visit(inner);
      else if (!isa<tensor::EmptyOp>(op))
        visit(op);
    }
  }

  // A value that is only returned is written into the application's output.
  void chooseDirect() {
    Operation *end = forward.getBody().front().getTerminator();
    for (OpOperand &operand : end->getOpOperands()) {
      Value root = rootOf(operand.get());
      Operation *producer = root.getDefiningOp();
      if (!producer || !hasDestinations(producer))
        continue;
      auto onlyOut = [&](Value value) {
        return llvm::all_of(value.getUsers(), [&](Operation *user) {
          return user == end || isa<YieldOp, KeepOp>(user);
        });
      };
      bool once = llvm::count_if(end->getOperands(), [&](Value value) {
                    return rootOf(value) == root;
                  }) == 1;
      if (once && onlyOut(root) && onlyOut(operand.get()))
        lives.direct[root] = operand.getOperandNumber();
    }
  }
};

} // namespace

FailureOr<Lives> findLives(func::FuncOp forward) {
  Walk walk(forward);
  walk.chooseDirect();
  walk.visitBlock(forward.getBody().front());
  if (walk.failed)
    return failure();
  return std::move(walk.lives);
}

} // namespace mille::plan

// Walks the straight-line program once, counting steps. One launch is one step:
// its tasks are at different ops of it at the same time.
#include "compiler/plan/Lives.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mille::kernel;

namespace mille::plan {

int outOperand(Operation *op) {
  return llvm::TypeSwitch<Operation *, int>(op)
      .Case<MatmulOp, AttentionOp, RowsOp, KeyBiasOp, RotationOp, ScheduleOp,
            PoolIndexOp, PoolMeanOp>([](auto kernel) {
        return int(kernel.getOutMutable().getOperandNumber());
      })
      .Default([](Operation *) { return -1; });
}

bool isDestination(Operation *op) {
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  return op->getNumResults() == 1 && isTensor(op->getResult(0).getType()) &&
         op->getNumRegions() == 0 && !isa<WeightOp>(op) &&
         llvm::none_of(op->getOperandTypes(), isTensor);
}

Value rootOf(Value tensor) {
  while (auto launch = tensor.getDefiningOp<LaunchOp>()) {
    unsigned number = cast<OpResult>(tensor).getResultNumber();
    tensor = launch.getBody().front().getTerminator()->getOperand(number);
  }
  return tensor;
}

namespace {

struct Walk {
  func::FuncOp forward;
  Lives lives;
  int64_t step = 0, bodies = 0;
  int64_t body = 0;                // at hand, 0: outside loops
  SmallVector<Buffer *> outerUses; // by the body at hand

  explicit Walk(func::FuncOp forward) : forward(forward) {}

  Buffer *make(RankedTensorType type, bool batchRows) {
    MemRefType memref = arenaType(type);
    lives.buffers.push_back(
        {memref, batchRows, bytesPerRow(memref), step, step, body, -1});
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
    int out = outOperand(op);
    if (out < 0 || op->getNumResults() == 0)
      return;
    Value result = op->getResult(0);
    if (lives.direct.count(result) || lives.streamOut.count(result))
      return;
    Operation *destination = op->getOperand(out).getDefiningOp();
    bool batchRows = destination && destination->getNumOperands() == 1 &&
                     destination->getOperand(0) == forward.getArgument(0);
    lives.bufferOf[result] =
        make(cast<RankedTensorType>(result.getType()), batchRows);
  }

  void visit(Operation &op) {
    for (Value operand : op.getOperands())
      use(operand);
    define(&op);
  }

  // True where nothing but `layers` reads `value` from there on.
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
      bool reuse = held != lives.bufferOf.end() && !held->second->batchRows &&
                   held->second->type == arenaType(type) &&
                   lastReadBy(layers, initial) &&
                   llvm::none_of(loop, [&](const LoopBuffers &before) {
                     return before.current == held->second;
                   });
      use(stream);
      Buffer *current = reuse ? held->second : make(type, false);
      loop.push_back({current, make(type, false), !reuse});
    }

    int64_t start = step, end = step;
    for (Region &region : layers->getRegions()) {
      step = start;
      body = ++bodies;
      for (OpOperand &handed : region.front().getTerminator()->getOpOperands()) {
        Value root = rootOf(handed.get());
        if (Operation *producer = root.getDefiningOp())
          if (outOperand(producer) >= 0 &&
              region.isAncestor(producer->getParentRegion()))
            lives.streamOut.try_emplace(root, handed.getOperandNumber());
      }
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

  void visitBlock(Block &block) {
    for (Operation &op : block) {
      ++step;
      if (auto layers = dyn_cast<LayersOp>(op))
        visitLoop(layers);
      else if (auto launch = dyn_cast<LaunchOp>(op))
        for (Operation &inner : launch.getBody().front())
          visit(inner);
      else if (!isDestination(&op))
        visit(op);
    }
  }

  // A value that is only returned is written where the application wants it.
  void chooseDirect() {
    Operation *end = forward.getBody().front().getTerminator();
    for (OpOperand &operand : end->getOpOperands()) {
      Value root = rootOf(operand.get());
      Operation *producer = root.getDefiningOp();
      if (!producer || outOperand(producer) < 0)
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

Lives findLives(func::FuncOp forward) {
  Walk walk(forward);
  walk.chooseDirect();
  walk.visitBlock(forward.getBody().front());
  return std::move(walk.lives);
}

} // namespace mille::plan

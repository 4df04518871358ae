// Moves the head, the loss and what follows from its gradient into a loop over
// blocks of rows, so that logits never have memory for all rows.
// Must not change an op but by moving it.
#include "compiler/plan/Passes.h"
#include "dialects/kernel/RowSpace.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace mille::plan {
#define GEN_PASS_DEF_BLOCKLOSS
#include "compiler/plan/Passes.h.inc"
} // namespace mille::plan

using namespace mlir;
using namespace mille::kernel;

namespace {

// Ops that work row by row, or add row after row.
bool worksByRows(Operation *op) {
  return isa<MatmulOp, RowsOp, LaunchOp, CrossEntropyOp, WeightGradientOp,
             ColumnSumsOp>(op);
}

class Blocks {
public:
  Blocks(CrossEntropyOp loss, int64_t rows)
      : loss(loss), rows(rows), block(loss->getBlock()),
        columns(columnsOf(loss.getLogits())),
        space(rowSpaceOf(loss.getLogits())) {}

  // Why the loss cannot be moved into a loop; empty: it is there now.
  std::string form() {
    auto size = loss.getGradient().getDefiningOp<tensor::EmptyOp>();
    if (!space || !size)
      return "its rows are not known";
    collect(loss);
    for (Operation *op : ops)
      if (!worksByRows(op))
        return (op->getName().getStringRef() + " reads or writes such rows")
            .str();
    llvm::sort(ops, [](Operation *one, Operation *other) {
      return one->isBeforeInBlock(other);
    });
    if (std::string why = findPorts(); !why.empty())
      return why;
    for (Operation *op : needed())
      if (!hoist(op))
        return (op->getName().getStringRef() + " cannot come before the loop")
            .str();
    build(size.getDynamicSizes()[0]);
    return "";
  }

private:
  static int64_t columnsOf(Value rows) {
    return cast<ShapedType>(rows.getType()).getShape().back();
  }

  bool isWide(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getRank() == 2 && type.isDynamicDim(0) &&
           type.getDimSize(1) == columns;
  }

  Operation *inBlock(Operation *op) {
    return block->findAncestorOpInBlock(*op);
  }

  // The ops that read or write wide rows.
  void collect(Operation *op) {
    if (!op || isa<tensor::EmptyOp>(op) || llvm::is_contained(ops, op))
      return;
    ops.push_back(op);
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (isWide(operand) && operand.getDefiningOp())
          collect(inBlock(operand.getDefiningOp()));
      for (Value result : inner->getResults())
        if (isWide(result))
          for (Operation *user : result.getUsers())
            collect(inBlock(user));
    });
  }

  bool isInside(Operation *op) {
    Operation *at = op ? inBlock(op) : nullptr;
    return at && llvm::is_contained(ops, at);
  }

  // Rows that come from outside, and those that are read there.
  std::string findPorts() {
    for (Operation *op : ops) {
      std::string why;
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands()) {
          auto type = dyn_cast<RankedTensorType>(operand.getType());
          Operation *maker = operand.getDefiningOp();
          if (!type || type.hasStaticShape() || isInside(maker) ||
              isa_and_present<tensor::EmptyOp>(maker))
            continue;
          std::optional<RowSpace> own = rowSpaceOf(operand);
          if (!own || !(*own == *space))
            why = "a value has other rows";
          inputs.insert(operand);
        }
      });
      if (!why.empty())
        return why;
      for (Value result : op->getResults())
        if (!llvm::all_of(result.getUsers(),
                          [&](Operation *user) { return isInside(user); })) {
          if (cast<ShapedType>(result.getType()).hasStaticShape())
            return "a sum is read outside";
          results.push_back(result);
        }
    }
    return "";
  }

  // What ops of the loop read beside rows: the ops that must come before it.
  llvm::SetVector<Operation *> needed() {
    llvm::SetVector<Operation *> makers;
    auto add = [&](Value value) {
      Operation *maker = value.getDefiningOp();
      if (maker && !isInside(maker) && inBlock(maker) == maker)
        makers.insert(maker);
    };
    for (Operation *op : ops)
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          add(operand);
      });
    return makers;
  }

  bool hoist(Operation *op) {
    if (op->isBeforeInBlock(ops.front()))
      return true;
    if (isInside(op) || !isMemoryEffectFree(op) || op->getNumRegions())
      return false;
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp();
          maker && maker->getBlock() == block && !hoist(maker))
        return false;
    op->moveBefore(ops.front());
    return true;
  }

  void build(Value size) {
    OpBuilder builder(ops.front());
    Location loc = loss.getLoc();
    SmallVector<Value> outs;
    for (Value result : results) {
      auto type = cast<RankedTensorType>(result.getType());
      outs.push_back(tensor::EmptyOp::create(builder, loc, type, size));
    }
    auto loop = RowBlocksOp::create(builder, loc, TypeRange(ValueRange(outs)),
                                    rows, inputs.getArrayRef(), outs);
    SmallVector<Type> takes{builder.getIndexType()};
    llvm::append_range(takes, ValueRange(inputs.getArrayRef()).getTypes());
    Block *body = builder.createBlock(&loop.getBody(), {}, takes,
                                      SmallVector<Location>(takes.size(), loc));
    IRMapping inside;
    for (auto [input, argument] :
         llvm::zip(inputs, body->getArguments().drop_front()))
      inside.map(input, argument);
    for (Operation *op : ops) {
      makeDestinations(op, builder, body->getArgument(0), inside);
      builder.clone(*op, inside);
    }
    SmallVector<Value> yields;
    for (auto [result, outcome] : llvm::zip(results, loop.getResults())) {
      yields.push_back(inside.lookup(result));
      result.replaceAllUsesWith(outcome);
    }
    YieldOp::create(builder, loc, yields);
    SmallVector<tensor::EmptyOp> old;
    for (Operation *op : ops)
      for (Value operand : op->getOperands())
        if (auto empty = operand.getDefiningOp<tensor::EmptyOp>())
          old.push_back(empty);
    for (Operation *op : llvm::reverse(ops))
      op->erase();
    for (tensor::EmptyOp empty :
         llvm::SetVector<tensor::EmptyOp>(old.begin(), old.end()))
      if (empty->use_empty())
        empty->erase();
  }

  // A destination has a block's rows. In a launch its size is mapped.
  void makeDestinations(Operation *op, OpBuilder &builder, Value size,
                        IRMapping &inside) {
    for (Value operand : op->getOperands()) {
      auto empty = operand.getDefiningOp<tensor::EmptyOp>();
      if (empty && !empty.getType().hasStaticShape())
        inside.map(operand, tensor::EmptyOp::create(builder, empty.getLoc(),
                                                    empty.getType(), size)
                                .getResult());
    }
    op->walk([&](tensor::EmptyOp empty) {
      for (Value rowsOfRun : empty.getDynamicSizes())
        inside.map(rowsOfRun, size);
    });
  }

  CrossEntropyOp loss;
  int64_t rows;
  Block *block;
  int64_t columns;
  std::optional<RowSpace> space;
  SmallVector<Operation *> ops;
  llvm::SetVector<Value> inputs;
  SmallVector<Value> results;
};

struct BlockLoss : mille::plan::impl::BlockLossBase<BlockLoss> {
  using BlockLossBase::BlockLossBase;

  void runOnOperation() override {
    if (rows < 1) {
      getOperation().emitError()
          << "block-loss has blocks of " << rows.getValue()
          << " rows but they must have at least 1";
      return signalPassFailure();
    }
    SmallVector<CrossEntropyOp> losses;
    getOperation().walk([&](CrossEntropyOp loss) {
      auto type = cast<ShapedType>(loss.getLogits().getType());
      if (isa<func::FuncOp>(loss->getParentOp()) &&
          isa<RankedTensorType>(type) && type.getShape().back() >= columns)
        losses.push_back(loss);
    });
    for (CrossEntropyOp loss : losses) {
      auto options = remark::RemarkOpts::name("BlockLoss").category("plan");
      Location loc = loss.getLoc();
      const int64_t classes =
          cast<ShapedType>(loss.getLogits().getType()).getShape().back();
      const std::string why = Blocks(loss, rows).form();
      if (why.empty())
        remark::passed(loc, options)
            << llvm::formatv("logits of {0} columns have memory for {1} rows",
                             classes, rows.getValue())
                   .str();
      else
        remark::missed(loc, options)
            << llvm::formatv("logits of {0} columns have memory for all rows: "
                             "{1}",
                             classes, why)
                   .str();
    }
  }
};

} // namespace

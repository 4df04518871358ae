// A training step on bf16: its matmuls, and the gradients of their weights,
// read rounded copies of what stays f32, or values that only they read, which
// are bf16 themselves.
// Must keep in f32 the weights, their gradients, the residual stream and its
// gradient, and what norms, the softmax of the loss and scalar regions read.
#include "compiler/plan/NarrowTraining.h"
#include "compiler/plan/Lives.h"
#include "compiler/plan/NarrowValues.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mille::kernel;

namespace mille::plan {
namespace {

Type elementOf(Value value) {
  return cast<ShapedType>(value.getType()).getElementType();
}

// The number of rows of `root`, or null for an input of the program.
Value rowsOf(Value root) {
  LayersOp layers;
  unsigned number = 0;
  if (auto argument = dyn_cast<BlockArgument>(root)) {
    layers = dyn_cast<LayersOp>(argument.getOwner()->getParentOp());
    number = argument.getArgNumber();
  } else if (auto saved = root.getDefiningOp<SavedOp>()) {
    return saved.getRows();
  } else if ((layers = root.getDefiningOp<LayersOp>())) {
    number = cast<OpResult>(root).getResultNumber();
  } else if (auto maker = root.getDefiningOp<DestinationStyleOpInterface>()) {
    auto out = maker.getTiedOpOperand(cast<OpResult>(root))
                   ->get()
                   .getDefiningOp<tensor::EmptyOp>();
    return out && out.getDynamicSizes().size() == 1 ? out.getDynamicSizes()[0]
                                                    : Value();
  }
  return layers ? rowsOf(rootOf(layers.getStream()[number])) : Value();
}

// Whether machines add the products of pairs: other heads gain nothing.
bool addsPairs(AttentionBackwardOp op) {
  constexpr int64_t columns = 32; // of a vector of words
  return op.getHeadDim() % columns == 0 && op.getValueDim() % columns == 0;
}

class NarrowStep {
public:
  explicit NarrowStep(func::FuncOp step)
      : step(step), bf16(BFloat16Type::get(step.getContext())),
        f32(Float32Type::get(step.getContext())) {}

  void run() {
    step.walk([&](Operation *op) { note(op); });
    narrowSet.insert(narrowUses.begin(), narrowUses.end());
    wideSet.insert(wideUses.begin(), wideUses.end());
    for (AttentionOp op : attentions)
      for (Value heads : {op.getQuery(), op.getKey(), op.getValue()})
        hold(heads);
    for (OpOperand *use : narrowUses)
      hold(use->get());
    for (auto &[name, saved] : saves)
      if (isReadNarrow(name))
        saveNarrow(saved, readers[name]);
    for (OpOperand *use : narrowUses)
      narrow(*use);
    for (MatmulOp op : matmuls)
      packNarrow(op);
    for (OpOperand *use : wideUses)
      widen(*use);
  }

private:
  void note(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](MatmulOp matmul) {
          if (!matmul.getWeight().getDefiningOp<PackOp>())
            return;
          matmuls.push_back(matmul);
          narrowUses.push_back(&matmul.getInputMutable());
        })
        .Case([&](WeightGradientOp gradient) {
          // Both are of one type.
          bool known = true;
          for (OpOperand *use :
               {&gradient.getGradientMutable(), &gradient.getInputMutable()})
            known &= bool(rowsOf(rootOf(use->get())));
          auto &uses = known ? narrowUses : wideUses;
          uses.push_back(&gradient.getGradientMutable());
          uses.push_back(&gradient.getInputMutable());
        })
        .Case([&](AttentionBackwardOp backward) {
          // All are of one type.
          const bool known = bool(rowsOf(rootOf(backward.getGradient())));
          auto &uses = known && addsPairs(backward) ? narrowUses : wideUses;
          for (OpOperand *use :
               {&backward.getQueryMutable(), &backward.getKeyMutable(),
                &backward.getValueMutable(), &backward.getGradientMutable()})
            uses.push_back(use);
        })
        .Case([&](AttentionOp op) { attentions.push_back(op); })
        .Case([&](SaveOp op) { saves[op.getName()].push_back(op); })
        .Case([&](SavedOp op) { readers[op.getName()].push_back(op); });
  }

  // Whether a use may read bf16, as it is or widened.
  bool readsNarrow(OpOperand &use) {
    if (narrowSet.contains(&use) || wideSet.contains(&use))
      return true;
    if (isa<AttentionOp>(use.getOwner()))
      return use.getOperandNumber() < 3; // query, key, value
    if (auto sums = dyn_cast<ColumnSumsOp>(use.getOwner()))
      return cast<ShapedType>(use.get().getType()).getDimSize(1) > 1 &&
             use.getOperandNumber() < sums.getInputs().size();
    if (auto save = dyn_cast<SaveOp>(use.getOwner()))
      return isReadNarrow(save.getName());
    return yieldsFromLaunch(use);
  }

  // Whether the loop back reads what is saved under a name as bf16 only, and a
  // copy of it can be made.
  bool isReadNarrow(StringRef name) {
    return llvm::all_of(saves.find(name)->second,
                        [](SaveOp save) {
                          return bool(rowsOf(rootOf(save.getInput())));
                        }) &&
           llvm::all_of(readers[name], [&](SavedOp saved) {
             return llvm::all_of(saved->getUses(), [&](OpOperand &use) {
               return readsNarrow(use);
             });
           });
  }

  void hold(Value value) {
    holdAs(bf16, rootOf(value),
           [&](OpOperand &use) { return readsNarrow(use); });
  }

  void saveNarrow(ArrayRef<SaveOp> saved, ArrayRef<SavedOp> read) {
    for (SaveOp save : saved)
      narrow(save.getInputMutable());
    for (SavedOp again : read)
      again.getResult().setType(
          withElements(again.getResult().getType(), bf16));
  }

  // Has `use` read a copy in bf16 of what it reads. Readers of a value share
  // one copy, which is made where the value is, while that is in cache.
  void narrow(OpOperand &use) {
    Value root = rootOf(use.get());
    if (elementOf(root).isBF16())
      return;
    Value &copy = copies[root];
    if (!copy)
      copy = copied(root, bf16, use);
    use.set(seenFrom(use.getOwner(), copy).front());
  }

  void widen(OpOperand &use) {
    Value root = rootOf(use.get());
    if (!elementOf(root).isBF16())
      return;
    Value &copy = copies[root];
    if (!copy)
      copy = copied(root, f32, use);
    use.set(seenFrom(use.getOwner(), copy).front());
  }

  Value copied(Value root, Type element, OpOperand &use) {
    OpBuilder builder(step.getContext());
    if (root.getDefiningOp())
      builder.setInsertionPointAfterValue(root);
    else
      builder.setInsertionPoint(
          root.getParentBlock()->findAncestorOpInBlock(*firstReader(root)));
    Value rows = rowsOf(root);
    if (!rows) // of an input of the program, which a matmul reads
      rows = rowsOf(rootOf(cast<MatmulOp>(use.getOwner()).getResult()));
    Value out = tensor::EmptyOp::create(builder, root.getLoc(),
                                        withElements(root.getType(), element),
                                        ValueRange(rows));
    return copyRows(builder, root.getLoc(), root, out).getResult();
  }

  // The first op that reads an argument of a block.
  Operation *firstReader(Value root) {
    Operation *first = nullptr;
    for (Operation *user : root.getUsers()) {
      Operation *at = root.getParentBlock()->findAncestorOpInBlock(*user);
      if (!first || at->isBeforeInBlock(first))
        first = at;
    }
    return first;
  }

  // The weight is rounded as it is packed.
  void packNarrow(MatmulOp op) {
    auto old = op.getWeight().getDefiningOp<PackOp>();
    if (elementOf(old.getOut()).isBF16())
      return;
    OpBuilder builder(old);
    auto type = withElements(old.getOut().getType(), bf16);
    Value to =
        tensor::EmptyOp::create(builder, old.getLoc(), type.getShape(), bf16);
    op.getWeightMutable().assign(
        PackOp::create(builder, old.getLoc(), type, old.getWeight(),
                       old.getStarts(), to, old.getTransposed())
            .getResult());
    if (!old->use_empty())
      return;
    Operation *out = old.getOut().getDefiningOp();
    old.erase();
    if (out->use_empty())
      out->erase();
  }

  func::FuncOp step;
  Type bf16, f32;
  SmallVector<MatmulOp> matmuls; // of weights that are packed as they run
  SmallVector<AttentionOp> attentions;
  // Operands that become bf16, and those that kernels read as f32 alone.
  SmallVector<OpOperand *> narrowUses, wideUses;
  DenseSet<OpOperand *> narrowSet, wideSet;
  llvm::MapVector<StringRef, SmallVector<SaveOp>> saves; // by name
  llvm::StringMap<SmallVector<SavedOp>> readers;
  DenseMap<Value, Value> copies; // of roots, in the other type
};

} // namespace

bool packsWeights(func::FuncOp step) {
  return step.walk([](PackOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

void narrowTrainedMatmuls(func::FuncOp step) { NarrowStep(step).run(); }

} // namespace mille::plan

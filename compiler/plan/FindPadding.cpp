// Finds which rows of padding a run may leave out: rows that no other row
// reads.
// Must not decide about a run: the runtime looks at its mask.
#include "compiler/plan/Passes.h"
#include "dialects/kernel/RowSpace.h"
#include "dialects/kernel/Signature.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mille::plan {
#define GEN_PASS_DEF_FINDPADDING
#include "compiler/plan/Passes.h.inc"
} // namespace mille::plan

using namespace mlir;
using namespace mille::kernel;

namespace {

bool isPerToken(Value value) {
  auto space = value ? rowSpaceOf(value) : std::nullopt;
  return space && space->size == mille::sizes::tokens;
}

// Visits each op; an op may forbid the removal of rows at an end of sequences.
class Finder {
public:
  explicit Finder(func::FuncOp forward)
      : forward(forward), tokens(sizeArgument(forward, mille::sizes::tokens)) {}

  void run() {
    forward.walk([&](AttentionOp op) {
      if (!mask && (op.getKeys() == tokens || op.getPast()))
        mask = inputOf(op.getKeyMask());
    });
    forward.walk([&](LinearAttentionOp op) {
      if (!mask && op.getTokens() == tokens)
        mask = inputOf(op.getKeyMask());
    });
    forward.walk([&](LinearRecurrenceOp op) {
      if (!mask)
        mask = inputOf(op.getKeyMask());
    });
    if (!mask)
      return; // no input says what padding is
    for (BlockArgument input : forward.getArguments())
      checkInput(input);
    forward.walk([&](Operation *op) { check(op); });
    report();
  }

private:
  static constexpr int64_t after = RemovablePadding::after,
                           before = RemovablePadding::before;

  // The mask, where it is an input.
  BlockArgument inputOf(Value keyMask) {
    if (auto remember =
            keyMask ? keyMask.getDefiningOp<RememberOp>() : RememberOp())
      keyMask = remember.getInput();
    auto input = dyn_cast_if_present<BlockArgument>(keyMask);
    return input && input.getOwner() == &forward.front() ? input
                                                         : BlockArgument();
  }

  void allow(int64_t allowed, const Twine &why) {
    if ((ends & allowed) == ends)
      return;
    ends &= allowed;
    reason = why.str();
  }

  void checkInput(BlockArgument input) {
    auto declared = forward.getArgAttrOfType<mille::transformer::ShapeAttr>(
        input.getArgNumber(), "transformer.shape");
    if (!declared || !declared.has(mille::sizes::tokens))
      return;
    mille::Shape shape = declared.getShape();
    if (shape.size() < 2 || shape[0] != mille::sizes::batch ||
        shape[1] != mille::sizes::tokens)
      allow(0, "an input has its tokens in another dimension than the second");
  }

  void check(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<AttentionOp, LinearAttentionOp, LinearRecurrenceOp, RotationOp,
              QueryScaleOp, CountTokensOp, PoolIndexOp, PoolMeanOp, RowsOp,
              RememberOp>([&](auto typed) { checkOp(typed); })
        .Case<LaunchOp, LayersOp, YieldOp, func::ReturnOp>([](auto) {})
        .Default([&](Operation *other) {
          if (!other->hasTrait<TokenLocal>() &&
              llvm::any_of(other->getOperands(), isPerToken))
            allow(0, other->getName().getStringRef() + " joins rows");
        });
  }

  void checkOp(AttentionOp op) {
    bool ownQueries = op.getQueries() == tokens,
         ownKeys = op.getKeys() == tokens;
    if (!ownQueries && isPerToken(op.getQuery()))
      return allow(0, "attention groups tokens in windows");
    if (!ownQueries && !ownKeys)
      return;
    if (op.getBias() && op.getBiasBy() == BiasBy::pair)
      allow(0, "attention's bias has a column per pair of all tokens");
    // A state begins with a sequence's first token, so padding can only come
    // after the tokens; no query of the run sees keys after its own.
    if (op.getPast())
      return allow(after, "a sequence remembers its first tokens");
    if (ownQueries != ownKeys &&
        (op.getCausal() || op.getWindow() || op.getChunk() || op.getSlopes() ||
         op.getBias()))
      allow(after, "attention compares positions in two sequences");
    if (op.getChunk())
      allow(after, "attention's chunks begin at a sequence's first token");
    if (op.getPrefix())
      allow(after, "attention's prefix begins at a sequence's first token");
    if (ownKeys)
      checkKeys(op.getKeyMask(),
                ownQueries && op.getCausal() && !op.getPrefix());
  }

  void checkOp(LinearAttentionOp op) {
    if (op.getTokens() == tokens)
      checkKeys(op.getKeyMask(), /*causal=*/true);
    else if (isPerToken(op.getQuery()))
      allow(0, "linear attention groups tokens in windows");
  }

  void checkOp(LinearRecurrenceOp op) {
    if (op.getKeyMask() == mask)
      return allow(after, "a sequence remembers its first tokens");
    allow(0, "a sequence remembers tokens that the mask hides");
  }

  // Rows that the run does not have keep what an earlier one wrote.
  void checkOp(RememberOp op) {
    if (isPerToken(op.getInput()))
      allow(after, "a sequence remembers its first tokens");
  }

  void checkKeys(Value keyMask, bool causal) {
    if (keyMask == mask)
      return;
    if (causal)
      allow(after, "attention sees keys that the mask hides before its tokens");
    else
      allow(0, "attention sees keys that the mask hides");
  }

  void checkOp(RotationOp op) {
    if (op.getLongContext() && isPerToken(op.getPositions()) &&
        !isa<BlockArgument>(op.getPositions()))
      allow(0, "rotations follow the largest position, counted with padding");
  }

  void checkOp(QueryScaleOp op) {
    using Kind = mille::transformer::LengthKind;
    if (op.getTokens() == tokens && op.getScale().getKind() == Kind::log_keys &&
        op.getKeyMask() != mask)
      allow(0, "a query's scale counts keys that the mask hides");
  }

  void checkOp(CountTokensOp op) {
    if (op.getTokens() == tokens && !isa<BlockArgument>(op.getIds()))
      allow(0, "positions are counted in rows that are no input");
  }

  void checkOp(PoolIndexOp op) {
    using mille::transformer::Pool;
    if (op.getTokens() != tokens)
      return;
    if (op.getKind() == Pool::first && op.getSkip() == 0)
      allow(after, "the first token of a sequence is pooled, masked or not");
    else if (op.getKind() != Pool::last || op.getMask() != mask)
      allow(0, "a token is pooled that may be padding");
  }

  void checkOp(PoolMeanOp op) {
    if (op.getTokens() == tokens && op.getKeyMask() != mask)
      allow(0, "padding is in the mean of a sequence's tokens");
  }

  // A table with a row per token may be read only at rows that pooling has
  // found.
  void checkOp(RowsOp op) {
    for (auto [input, index] : llvm::zip(op.getInputs(), op.getGather()))
      if (index >= 0 && isPerToken(input) &&
          !op.getIndices()[index].getDefiningOp<PoolIndexOp>())
        allow(0, "rows of tokens are read by numbers that are no pooling's");
  }

  // Which input an argument is: sizes and states are none.
  int64_t inputNumber(unsigned argument) {
    int64_t number = 0;
    for (unsigned i = sizeArguments(forward); i < argument; ++i)
      number += !isState(forward, i);
    return number;
  }

  void report() {
    Builder builder(forward.getContext());
    int64_t number = mask.getArgNumber();
    auto name =
        forward.getArgAttrOfType<StringAttr>(number, "transformer.name");
    std::string hidden =
        ("rows that " + (name ? name.getValue() : "the mask") + " hides").str();
    auto options = remark::RemarkOpts::name("FindPadding").category("plan");
    if (ends == 0) {
      remark::missed(forward.getLoc(), options)
          << hidden + " are computed: " + reason;
      return;
    }
    forward->setAttr("kernel.padding_ends", builder.getI64IntegerAttr(ends));
    forward->setAttr("kernel.mask_input",
                     builder.getI64IntegerAttr(inputNumber(number)));
    remark::passed(forward.getLoc(), options)
        << hidden + (ends & before
                         ? " at either end of a sequence are removed"
                         : " at the end of a sequence are removed, not those "
                           "before it: " +
                               reason);
  }

  func::FuncOp forward;
  BlockArgument tokens;
  BlockArgument mask;
  int64_t ends = after | before;
  std::string reason;
};

struct FindPadding : mille::plan::impl::FindPaddingBase<FindPadding> {
  void runOnOperation() override {
    getOperation().walk([](func::FuncOp function) {
      if (sizeArgument(function, mille::sizes::tokens))
        Finder(function).run();
    });
  }
};

} // namespace

// Verifies that what an op reads row by row has as many rows, and that a number
// of tokens is that of the rows it counts: types say [?] only.
// Must accept what it cannot tell (RowSpace.h).
#include "dialects/kernel/OpList.h"
#include "dialects/kernel/RowSpace.h"

using namespace mlir;
using namespace mille::kernel;

namespace {

std::string inWords(const RowSpace &space, bool ofSequence = false) {
  std::string text = ofSequence ? "" : "batch";
  auto times = [&](const std::string &factor) {
    text += (text.empty() ? "" : " * ") + factor;
  };
  if (!space.size.empty())
    times(space.size.str());
  if (space.times != 1 || text.empty())
    times(std::to_string(space.times));
  return text;
}

class Rows {
public:
  explicit Rows(Operation *op) : op(op) {}

  LogicalResult check(MatmulOp op) {
    same("input", op.getInput(), "outs", op.getOut());
    same("parameters", op.getParameters(), "outs", op.getOut());
    for (Value extra : op.getExtras())
      same("an extra", extra, "outs", op.getOut());
    return result;
  }
  LogicalResult check(QuantizeOp op) {
    same("input", op.getInput(), "values", op.getValues());
    same("parameters", op.getParameters(), "values", op.getValues());
    return result;
  }
  LogicalResult check(AttentionOp op) {
    same("query", op.getQuery(), "outs", op.getOut());
    same("value", op.getValue(), "key", op.getKey());
    inSequences("queries", op.getQueries(), "query", op.getQuery());
    inSequences("keys", op.getKeys(), "key", op.getKey());
    return result;
  }
  LogicalResult check(LinearAttentionOp op) {
    threeHeads(op);
    inSequences("tokens", op.getTokens(), "query", op.getQuery());
    return result;
  }
  LogicalResult check(LinearRecurrenceOp op) {
    threeHeads(op);
    return result;
  }
  LogicalResult check(RotateOp op) {
    same("input", op.getInput(), "outs", op.getOut());
    same("rotation", op.getRotation(), "outs", op.getOut());
    return result;
  }
  LogicalResult check(RowsOp op) {
    ArrayRef<int64_t> gather = op.getGather();
    for (auto [number, input] : llvm::enumerate(op.getInputs()))
      if (number < gather.size() && gather[number] < 0)
        same("an input", input, "outs", op.getOut());
    for (Value index : op.getIndices())
      same("an index", index, "outs", op.getOut());
    return result;
  }
  LogicalResult check(DispatchOp op) {
    same("outs", op.getOut(), "input", op.getInput(), op.getK());
    same("order", op.getOrder(), "outs", op.getOut());
    return result;
  }
  LogicalResult check(CombineOp op) {
    same("input", op.getInput(), "outs", op.getOut(), op.getK());
    same("place", op.getPlace(), "input", op.getInput());
    return result;
  }
  LogicalResult check(WeightGradientOp op) {
    same("input", op.getInput(), "gradient", op.getGradient());
    return result;
  }
  LogicalResult check(ColumnSumsOp op) {
    for (Value input : op.getInputs())
      same("an input", input, "input 0", op.getInputs()[0]);
    return result;
  }
  LogicalResult check(EmbedGradientOp op) {
    same("ids", op.getIds(), "gradient", op.getGradient());
    return result;
  }
  LogicalResult check(NormBackwardOp op) {
    same("input", op.getInput(), "gradient", op.getGradient());
    for (Value out : op.getOuts())
      same("an out", out, "gradient", op.getGradient());
    return result;
  }
  LogicalResult check(CrossEntropyOp op) {
    for (Value rows : {op.getLabels(), op.getLosses(), op.getGradient()})
      same("an operand", rows, "logits", op.getLogits());
    return result;
  }
  LogicalResult check(RowBlocksOp op) {
    for (Value rows : op->getOperands())
      same("an operand", rows, "operand 0", op->getOperand(0));
    return result;
  }
  LogicalResult check(AttentionBackwardOp op) {
    same("gradient", op.getGradient(), "query", op.getQuery());
    same("value", op.getValue(), "key", op.getKey());
    same("key_mask", op.getKeyMask(), "key", op.getKey());
    same("key_head_bias", op.getKeyHeadBias(), "key", op.getKey());
    same("segments", op.getSegments(), "key", op.getKey());
    inSequences("queries", op.getQueries(), "query", op.getQuery());
    inSequences("keys", op.getKeys(), "key", op.getKey());
    return result;
  }
  // Place has k rows for each of theirs.
  LogicalResult check(RouteGradientOp op) {
    same("gradient", op.getGradient(), "logits", op.getLogits());
    same("outs", op.getOut(), "logits", op.getLogits());
    same("place", op.getPlace(), "logits", op.getLogits(),
         columnsOf(op.getGradient()));
    return result;
  }
  LogicalResult check(RouteSharesOp op) {
    same("outs", op.getOut(), "logits", op.getLogits());
    same("place", op.getPlace(), "logits", op.getLogits(), op.getK());
    return result;
  }
  LogicalResult check(SharesGradientOp op) {
    same("gradient", op.getGradient(), "logits", op.getLogits());
    same("outs", op.getOut(), "logits", op.getLogits());
    return result;
  }
  LogicalResult check(BalanceLossOp op) {
    same("losses", op.getLosses(), "shares", op.getShares());
    same("key_mask", op.getKeyMask(), "shares", op.getShares());
    for (Value out : op.getOuts())
      same("an out", out, "shares", op.getShares());
    return result;
  }
  LogicalResult check(SlotProductsOp op) {
    same("outs", op.getOut(), "row", op.getRow());
    same("slots", op.getSlots(), "row", op.getRow(), columnsOf(op.getOut()));
    same("place", op.getPlace(), "slots", op.getSlots());
    return result;
  }
  LogicalResult check(RotationOp op) {
    same("positions", op.getPositions(), "outs", op.getOut());
    return result;
  }
  LogicalResult check(AlibiOp op) {
    same("positions", op.getPositions(), "outs", op.getOut());
    return result;
  }
  LogicalResult check(QueryScaleOp op) {
    same("positions", op.getPositions(), "outs", op.getOut());
    if (!op.getPast())
      counts("tokens", op.getTokens(), "outs", op.getOut());
    return result;
  }
  // With `past`, ids and tokens are those of all that is remembered.
  LogicalResult check(CountTokensOp op) {
    if (op.getPast())
      return result;
    same("ids", op.getIds(), "outs", op.getOut());
    counts("tokens", op.getTokens(), "outs", op.getOut());
    return result;
  }
  LogicalResult check(PoolIndexOp op) {
    counts("tokens", op.getTokens(), "the mask", op.getMask());
    return result;
  }
  LogicalResult check(PoolGradientOp op) {
    same("key_mask", op.getKeyMask(), "outs", op.getOut());
    counts("tokens", op.getTokens(), "outs", op.getOut());
    return result;
  }
  LogicalResult check(ReverseTokensOp op) {
    same("input", op.getInput(), "outs", op.getOut());
    same("key_mask", op.getKeyMask(), "outs", op.getOut());
    counts("tokens", op.getTokens(), "outs", op.getOut());
    return result;
  }
  LogicalResult check(DropoutOp op) {
    same("input", op.getInput(), "outs", op.getOut());
    counts("tokens", op.getTokens(), "outs", op.getOut());
    return result;
  }
  LogicalResult check(ShiftOp op) {
    same("ids", op.getIds(), "outs", op.getOut());
    return result;
  }
  LogicalResult check(PoolMeanOp op) {
    same("key_mask", op.getKeyMask(), "input", op.getInput());
    counts("tokens", op.getTokens(), "input", op.getInput());
    return result;
  }
  // Ops that read or write no rows one for one, or no rows at all.
  template <typename Op>
  std::enable_if_t<
      llvm::is_one_of<Op, WeightOp, GradientOp, SaveOp, SavedOp, ArenaOp,
                      LaunchOp, LayersOp, YieldOp, TokenNumbersOp,
                      GatherTokensOp, PatchesOp, PatchTableOp, PatchRotationOp,
                      MovePatchesOp, WindowSegmentsOp, SimilarityOp, RouteOp,
                      ScheduleOp, RecallOp, RememberOp, PositionsOp, KeepOp,
                      PackOp, SpreadOp, ExpertsOp, PairSumsOp>::value,
      LogicalResult>
  check(Op) {
    return result;
  }

private:
  template <typename Op> void threeHeads(Op op) {
    same("query", op.getQuery(), "key", op.getKey());
    same("value", op.getValue(), "key", op.getKey());
  }

  // `value` must have `times` rows for each row of `other`. Either may be null.
  void same(StringRef name, Value value, StringRef otherName, Value other,
            int64_t times = 1) {
    std::optional<RowSpace> rows = spaceOf(value), others = spaceOf(other);
    if (!rows || !others || failed(result))
      return;
    others->times *= times;
    if (!(*rows == *others))
      result = op->emitOpError()
               << name << " has " << inWords(*rows) << " rows but " << otherName
               << " has " << inWords(*others)
               << (times == 1 ? "" : " with its k slots");
  }

  // `size` must be the number of rows of a sequence of `rows`, which may be
  // null.
  void counts(StringRef name, Value size, StringRef rowsName, Value rows) {
    std::optional<RowSpace> number = perSequenceOf(size), space = spaceOf(rows);
    if (number && space && !(*number == *space))
      fail(name, inWords(*number, /*ofSequence=*/true), rowsName, *space);
    mustCountTokens(name, size, rowsName, space);
  }

  // The same where the rows of a sequence may be those of several windows.
  void inSequences(StringRef name, Value size, StringRef rowsName, Value rows) {
    std::optional<RowSpace> number = perSequenceOf(size), space = spaceOf(rows);
    if (number && space && !isCutBy(*space, *number))
      fail(name, inWords(*number, /*ofSequence=*/true), rowsName, *space);
    mustCountTokens(name, size, rowsName, space);
  }

  // Whether pieces of `number` rows can make up a sequence of `space`. Only the
  // run can tell whether a constant cuts a size of the run.
  static bool isCutBy(const RowSpace &space, const RowSpace &number) {
    if (number.size.empty() && !space.size.empty())
      return true;
    return number.size == space.size && space.times % number.times == 0;
  }

  // A factor `batch` makes `size` a number of rows of the whole run.
  void mustCountTokens(StringRef name, Value size, StringRef rowsName,
                       const std::optional<RowSpace> &space) {
    if (std::optional<RowSpace> ofRun = rowSpaceOfSize(size); ofRun && space)
      fail(name, inWords(*ofRun), rowsName, *space);
  }

  void fail(StringRef name, const std::string &number, StringRef rowsName,
            const RowSpace &space) {
    if (succeeded(result))
      result = op->emitOpError()
               << name << " is " << number << " but a sequence of " << rowsName
               << " has " << inWords(space, /*ofSequence=*/true) << " rows";
  }

  static int64_t columnsOf(Value value) {
    return cast<ShapedType>(value.getType()).getShape().back();
  }
  static std::optional<RowSpace> spaceOf(Value value) {
    if (!value || !isa<RankedTensorType>(value.getType()))
      return std::nullopt;
    return rowSpaceOf(value);
  }

  Operation *op;
  LogicalResult result = success();
};

} // namespace

LogicalResult mille::kernel::verifyRows(Operation *op) {
  return Ops::visit<LogicalResult>(
      op, [&](auto known) { return Rows(op).check(known); },
      [](Operation *) { return success(); });
}

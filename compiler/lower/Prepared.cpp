// Lowers each step of the runtime to a call with addresses, strides and numbers
// of the op's attributes, in the order of runtime/abi.h. Must not launch
// kernels.
#include "compiler/lower/Prepared.h"
#include "compiler/lower/LaunchOperands.h"
#include "dialects/kernel/Backward.h"
#include "dialects/kernel/OpList.h"
#include "dialects/kernel/Remembered.h"
#include "dialects/kernel/RowSpace.h"
#include "runtime/abi.h"

using namespace mlir;
using namespace mille;
using namespace mille::kernel;
using namespace mille::lower;

namespace {

int64_t rowStride(Value buffer) {
  auto [strides, offset] =
      cast<MemRefType>(buffer.getType()).getStridesAndOffset();
  return strides.empty() ? 1 : strides.front();
}

int64_t columnsOf(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  return type.getRank() == 1 ? 1 : type.getShape().back();
}

class PreparedLowering {
public:
  explicit PreparedLowering(Bindings &bindings)
      : code(bindings.code), types(bindings.types),
        constants(bindings.constants), signature(bindings.signature),
        shared(bindings.shared), layer(bindings.layer), tokens(bindings.tokens),
        address(bindings.address), extent(bindings.extent),
        index(bindings.index), tables(bindings.tables) {}

  LogicalResult lower(RotationOp op) {
    ArrayRef<double> frequencies = op.getFrequencies();
    auto longContext = op.getLongContext();
    DenseF64ArrayAttr others =
        longContext ? longContext->getFrequencies() : DenseF64ArrayAttr();
    code.call("mille_rotation",
              {code.run, address.lookup(op.getPositions()), rowsOf(op.getOut()),
               code.addressOf(constants.addDoubles(frequencies)),
               i64(frequencies.size()),
               code.real(op.getFactor().convertToDouble()),
               i64(longContext ? longContext->getAfter() : 0),
               code.real(longContext ? double(longContext->getStretch()) : 1),
               code.addressOf(others ? constants.addDoubles(others) : ""),
               address.lookup(op.getOut()), i64(rowStride(op.getOut()))});
    return success();
  }
  LogicalResult lower(AlibiOp op) {
    code.call("mille_alibi",
              {code.run, address.lookup(op.getPositions()), rowsOf(op.getOut()),
               code.addressOf(constants.addDoubles(op.getSlopes())),
               i64(op.getSlopes().size()),
               code.real(op.getFactor().convertToDouble()),
               address.lookup(op.getOut()), i64(rowStride(op.getOut()))});
    return success();
  }
  LogicalResult lower(DropoutOp op) {
    code.call("mille_dropout",
              {code.run, address.lookup(op.getInput()),
               i64(rowStride(op.getInput())), i64(columnsOf(op.getOut())),
               address.lookup(op.getStep()), address.lookup(op.getFirst()),
               tokensOf(op.getTokens()),
               code.real(op.getRate().convertToDouble()), i32(op.getSeed()),
               i32(op.getSite()),
               layer ? code.to32(code.add(layer, i64(op.getAfter()))) : i32(-1),
               address.lookup(op.getOut()), rowsOf(op.getOut()),
               i64(rowStride(op.getOut()))});
    return success();
  }
  LogicalResult lower(ShiftOp op) {
    code.call("mille_shift",
              {code.run, address.lookup(op.getIds()), rowsOf(op.getOut()),
               i32(op.getNumber()), address.lookup(op.getOut())});
    return success();
  }
  LogicalResult lower(SpreadOp op) {
    code.call("mille_spread",
              {code.run, address.lookup(op.getWeight()), integers(op.getFrom()),
               i64(op.getFrom().size()), address.lookup(op.getOut())});
    return success();
  }
  LogicalResult lower(PairSumsOp op) {
    auto table = cast<MemRefType>(op.getOut().getType());
    code.call("mille_pair_sums",
              {code.run, address.lookup(op.getGradient()),
               rowsOf(op.getGradient()), i64(rowStride(op.getGradient())),
               integers(op.getIndex()),
               i64(tokensOfPairs(op.getIndex().size())),
               i64(table.getDimSize(1)), address.lookup(op.getOut())});
    return success();
  }
  LogicalResult lower(QueryScaleOp op) {
    transformer::LengthScaleAttr scale = op.getScale();
    double numbers[] = {scale.getBase(), scale.getFloor(), scale.getBeta(),
                        double(scale.getPeriod()), double(scale.getOffset())};
    auto window = op.getWindow().value_or(ArrayRef<int64_t>());
    code.call("mille_query_scale",
              {code.run, i32(int64_t(scale.getKind())),
               code.addressOf(constants.addDoubles(numbers)),
               addressOrNull(op.getPositions()), addressOrNull(op.getKeyMask()),
               rowsOf(op.getOut()),
               op.getPast() ? i64(MILLE_RUN_TOKENS) : tokensOf(op.getTokens()),
               i32(op.getCausal()), i64(window.empty() ? 0 : window[0]),
               i64(window.empty() ? 0 : window[1]), addressOrNull(op.getPast()),
               op.getPast() ? index.lookup(op.getTokens()) : i64(0),
               address.lookup(op.getOut())});
    return success();
  }
  LogicalResult lower(ScheduleOp op) {
    int64_t number = shared.scale(op.getName());
    const ScheduledScale *same = &shared.scales[number];
    if (same->from != op.getFrom().convertToDouble() ||
        same->to != op.getTo().convertToDouble() ||
        same->steps != int64_t(op.getSteps()))
      return op.emitOpError()
             << "is called '" << op.getName() << "' like another schedule";
    code.call("mille_schedule",
              {code.run, i32(number), address.lookup(op.getStep()),
               address.lookup(op.getOut())});
    return success();
  }
  LogicalResult lower(TokenNumbersOp op) {
    code.call("mille_token_numbers",
              {code.run, integers(op.getNumbers()), i64(op.getNumbers().size()),
               address.lookup(op.getOut())});
    return success();
  }
  LogicalResult lower(CountTokensOp op) {
    code.call("mille_count_tokens",
              {code.run, address.lookup(op.getIds()), rowsOf(op.getOut()),
               op.getPast() ? i64(MILLE_RUN_TOKENS) : tokensOf(op.getTokens()),
               i32(op.getPadding().has_value()),
               i32(op.getPadding().value_or(0)), i32(op.getFirst()),
               i32(op.getEach()), addressOrNull(op.getPast()),
               op.getPast() ? index.lookup(op.getTokens()) : i64(0),
               address.lookup(op.getOut())});
    return success();
  }

  //===-- States ----------------------------------------------------------===//

  LogicalResult lower(RememberOp op) {
    auto type = cast<MemRefType>(op.getInput().getType());
    int64_t bytes = type.getElementTypeBitWidth() / 8;
    Value input = address.lookup(op.getInput());
    if (int64_t from = kernel::fromOf(op))
      input = code.byteAddress(input, i64(from * bytes));
    const int64_t columns = kernel::rememberedColumns(op);
    if (!op.getPanels()) {
      code.call("mille_remember",
                {code.run, input, i64(rowStride(op.getInput()) * bytes),
                 i64(columns * bytes), addressOrNull(op.getPast()),
                 index.lookup(op.getRows()), tokensOfRows(op.getInput()),
                 address.lookup(op.getOut())});
      return success();
    }
    int64_t heads = int64_t(*op.getHeads());
    bool keys = *op.getPanels() == kernel::StatePanels::keys;
    Type element = cast<MemRefType>(op.getOut().getType()).getElementType();
    const bool rounds = element != type.getElementType();
    code.call(element.isInteger(8) ? "mille_remember_bytes"
              : rounds             ? "mille_remember_halves"
                                   : "mille_remember_panels",
              {code.run, input, i64(rowStride(op.getInput())), i32(keys),
               i64(heads), i64(columns / heads), i64(bytes),
               addressOrNull(op.getPast()), index.lookup(op.getRows()),
               tokensOfRows(op.getInput()), address.lookup(op.getOut())});
    return success();
  }
  LogicalResult lower(PositionsOp op) {
    code.call("mille_positions",
              {code.run, address.lookup(op.getPast()), rowsOf(op.getOut()),
               address.lookup(op.getOut())});
    return success();
  }
  LogicalResult lower(LinearRecurrenceOp op) {
    SmallVector<int64_t> numbers{
        int64_t(op.getHeads()), int64_t(op.getKvHeads()),
        int64_t(op.getHeadDim()), int64_t(op.getValueDim())};
    llvm::append_range(numbers, op.getOffsets());
    Value out = op.getOuts()[1];
    code.call("mille_linear_attention",
              {code.run, address.lookup(op.getQuery()),
               i64(rowStride(op.getQuery())), address.lookup(op.getKey()),
               i64(rowStride(op.getKey())), address.lookup(op.getValue()),
               i64(rowStride(op.getValue())), addressOrNull(op.getKeyMask()),
               integers(numbers), code.real(op.getScale().convertToDouble()),
               address.lookup(op.getDecay()), address.lookup(op.getPast()),
               address.lookup(op.getOuts()[0]), address.lookup(out),
               i64(rowStride(out))});
    return success();
  }

  //===-- Tokens ----------------------------------------------------------===//

  LogicalResult lower(GatherTokensOp op) {
    code.call("mille_gather_tokens",
              {code.run, address.lookup(op.getInput()),
               i64(rowStride(op.getInput())),
               i64(columnsOf(op.getInput()) / int64_t(op.getParts())),
               integers(op.getIndex()), i64(op.getIndex().size()),
               i64(op.getGroup()), i64(op.getParts()), i64(op.getTokens()),
               address.lookup(op.getOut()), i64(rowStride(op.getOut()))});
    return success();
  }
  LogicalResult lower(PatchesOp op) {
    SmallVector<int64_t> numbers;
    for (ArrayRef<int64_t> part :
         {op.getImage(), op.getKernel(), op.getStride(), op.getPadding()})
      llvm::append_range(numbers, part);
    numbers.push_back(op.getPrefix());
    ValueRange sides = op.getSides();
    code.call("mille_patches",
              {code.run, address.lookup(op.getPixels()),
               i64(rowStride(op.getPixels())), integers(numbers),
               sides.empty() ? i64(0) : index.lookup(sides[0]),
               sides.empty() ? i64(0) : index.lookup(sides[1]),
               address.lookup(op.getOut()), i64(rowStride(op.getOut()))});
    return success();
  }
  LogicalResult lower(PatchTableOp op) {
    if (layer)
      return op.emitOpError("is in a layer but a session keeps its rows for "
                            "all runs");
    auto space = rowSpaceOf(op.getOut());
    ShapeExtent rows = space ? space->perSequence() : ShapeExtent(0);
    if (tables.count && tables.rows != rows)
      return op.emitOpError() << "has " << rows.text()
                              << " rows for an image but another table has "
                              << tables.rows.text();
    static constexpr int64_t none[] = {1, 1};
    ArrayRef<int64_t> own = op.getOwn().value_or(none);
    auto resize = op.getResize().value_or(transformer::Resize::bicubic);
    int64_t numbers[] = {
        op.getPatch()[0],        op.getPatch()[1], int64_t(op.getPrefix()),
        int64_t(op.getPlaced()), own[0],           own[1],
        int64_t(resize)};
    auto stride = [&](Value table) { return table ? rowStride(table) : 0; };
    const int64_t columns = columnsOf(op.getOut());
    code.call("mille_patch_table",
              {code.run, i32(tables.count), i64(tables.columns),
               index.lookup(op.getHeight()), index.lookup(op.getWidth()),
               integers(numbers), addressOrNull(op.getBase()),
               i64(stride(op.getBase())), addressOrNull(op.getTable()),
               i64(stride(op.getTable())), i64(columns),
               address.lookup(op.getOut()), i64(rowStride(op.getOut()))});
    tables = {tables.count + 1, tables.columns + columns, rows};
    return success();
  }
  LogicalResult lower(MovePatchesOp op) {
    code.call("mille_move_patches",
              {code.run, address.lookup(op.getInput()),
               i64(rowStride(op.getInput())), i64(columnsOf(op.getInput())),
               index.lookup(op.getHeight()), index.lookup(op.getWidth()),
               windows(op, int64_t(op.getMove())), address.lookup(op.getOut()),
               i64(rowStride(op.getOut()))});
    return success();
  }
  LogicalResult lower(WindowSegmentsOp op) {
    code.call("mille_window_segments",
              {code.run, index.lookup(op.getHeight()),
               index.lookup(op.getWidth()), windows(op, 0),
               address.lookup(op.getOut())});
    return success();
  }
  LogicalResult lower(PatchRotationOp op) {
    int64_t numbers[] = {op.getPatch()[0], op.getPatch()[1],
                         int64_t(op.getPrefix()), int64_t(op.getHeadDim())};
    code.call("mille_patch_rotation",
              {code.run, index.lookup(op.getHeight()),
               index.lookup(op.getWidth()), integers(numbers),
               code.real(op.getTheta().convertToDouble()),
               address.lookup(op.getOut()), i64(rowStride(op.getOut()))});
    return success();
  }
  LogicalResult lower(RouteOp op) {
    int64_t entries = columnsOf(op.getLogits());
    if (entries > MILLE_MOST_EXPERTS)
      return op.emitOpError()
             << "chooses among " << entries << " experts but the most are "
             << int64_t(MILLE_MOST_EXPERTS);
    int64_t numbers[] = {entries,
                         int64_t(op.getK()),
                         int64_t(op.getScore()),
                         int64_t(op.getGroups()),
                         int64_t(op.getTopGroups()),
                         int64_t(op.getGroupScore()),
                         op.getRenormalised(),
                         op.getSoftmaxChosen()};
    ValueRange outs = op.getOuts();
    code.call("mille_route",
              {code.run, integers(numbers),
               code.real(op.getEpsilon().convertToDouble()),
               code.real(op.getFactor().convertToDouble()),
               address.lookup(op.getLogits()), i64(rowStride(op.getLogits())),
               addressOrNull(op.getSelectionBias()), rowsOf(op.getLogits()),
               address.lookup(outs[0]), i64(rowStride(outs[0])),
               address.lookup(outs[1]), address.lookup(outs[2]),
               address.lookup(outs[3])});
    return success();
  }
  LogicalResult lower(RouteGradientOp op) {
    const int64_t numbers[] = {
        columnsOf(op.getLogits()), columnsOf(op.getGradient()),
        int64_t(op.getScore()), op.getRenormalised(), op.getSoftmaxChosen()};
    code.call("mille_route_gradient",
              {code.run, integers(numbers),
               code.real(op.getEpsilon().convertToDouble()),
               code.real(op.getFactor().convertToDouble()),
               address.lookup(op.getGradient()),
               i64(rowStride(op.getGradient())), address.lookup(op.getLogits()),
               i64(rowStride(op.getLogits())), address.lookup(op.getPlace()),
               address.lookup(op.getStarts()), address.lookup(op.getOut()),
               rowsOf(op.getOut()), i64(rowStride(op.getOut()))});
    return success();
  }
  LogicalResult lower(RouteSharesOp op) {
    code.call("mille_route_shares",
              {code.run, address.lookup(op.getLogits()),
               i64(rowStride(op.getLogits())), i64(columnsOf(op.getLogits())),
               i64(op.getK()), address.lookup(op.getPlace()),
               address.lookup(op.getStarts()), address.lookup(op.getOut()),
               rowsOf(op.getOut()), i64(rowStride(op.getOut()))});
    return success();
  }
  LogicalResult lower(SharesGradientOp op) {
    code.call("mille_shares_gradient",
              {code.run, address.lookup(op.getGradient()),
               i64(rowStride(op.getGradient())), address.lookup(op.getLogits()),
               i64(rowStride(op.getLogits())), i64(columnsOf(op.getLogits())),
               address.lookup(op.getOut()), rowsOf(op.getOut()),
               i64(rowStride(op.getOut()))});
    return success();
  }
  LogicalResult lower(BalanceLossOp op) {
    Value total = op.getOuts()[0], gradient = op.getOuts()[1];
    code.call("mille_balance_loss",
              {code.run, address.lookup(op.getLosses()),
               i64(rowStride(op.getLosses())), address.lookup(op.getShares()),
               i64(rowStride(op.getShares())),
               i64(columnsOf(op.getShares()) / 2), i64(op.getK()),
               code.real(op.getFactor().convertToDouble()),
               addressOrNull(op.getKeyMask()), address.lookup(total),
               i64(rowStride(total)), address.lookup(gradient),
               rowsOf(gradient), i64(rowStride(gradient))});
    return success();
  }
  LogicalResult lower(SlotProductsOp op) {
    code.call("mille_slot_products",
              {code.run, address.lookup(op.getSlots()),
               i64(rowStride(op.getSlots())), address.lookup(op.getRow()),
               i64(rowStride(op.getRow())), i64(columnsOf(op.getRow())),
               address.lookup(op.getPlace()), i64(columnsOf(op.getOut())),
               address.lookup(op.getOut()), rowsOf(op.getOut()),
               i64(rowStride(op.getOut()))});
    return success();
  }
  LogicalResult lower(ExpertsOp op) {
    code.call("mille_experts",
              {code.run, address.lookup(op.getStarts()),
               i64(entriesOf(op.getStarts())), rowsOf(op.getOut()),
               address.lookup(op.getOut())});
    return success();
  }
  LogicalResult lower(SimilarityOp op) {
    auto number = numberOfOutput(op, op.getName());
    if (failed(number))
      return failure();
    code.call("mille_similarity",
              {code.run, address.lookup(op.getLeft()),
               i64(rowStride(op.getLeft())), address.lookup(op.getRight()),
               i64(rowStride(op.getRight())), i64(columnsOf(op.getLeft())),
               i32(*number)});
    return success();
  }
  LogicalResult lower(PoolIndexOp op) {
    code.call("mille_pool_index",
              {code.run, addressOrNull(op.getMask()), tokensOf(op.getTokens()),
               i32(int64_t(op.getKind())), i64(op.getSkip()), i64(op.getId()),
               address.lookup(op.getOut())},
              /*status=*/true);
    return success();
  }
  LogicalResult lower(PoolMeanOp op) {
    code.call("mille_pool_mean",
              {code.run, address.lookup(op.getInput()),
               i64(rowStride(op.getInput())), addressOrNull(op.getKeyMask()),
               tokensOf(op.getTokens()), i64(op.getSkip()),
               i64(columnsOf(op.getInput())), address.lookup(op.getOut()),
               i64(rowStride(op.getOut()))},
              /*status=*/true);
    return success();
  }
  LogicalResult lower(PoolGradientOp op) {
    code.call("mille_pool_gradient",
              {code.run, address.lookup(op.getGradient()),
               i64(rowStride(op.getGradient())), addressOrNull(op.getIndex()),
               addressOrNull(op.getKeyMask()), tokensOf(op.getTokens()),
               i64(op.getSkip()), i64(columnsOf(op.getOut())),
               address.lookup(op.getOut()), rowsOf(op.getOut()),
               i64(rowStride(op.getOut()))});
    return success();
  }
  LogicalResult lower(ReverseTokensOp op) {
    code.call("mille_reverse_tokens",
              {code.run, address.lookup(op.getInput()),
               i64(rowStride(op.getInput())), addressOrNull(op.getKeyMask()),
               tokensOf(op.getTokens()), i64(columnsOf(op.getOut())),
               address.lookup(op.getOut()), rowsOf(op.getOut()),
               i64(rowStride(op.getOut()))});
    return success();
  }
  LogicalResult lower(KeepOp op) {
    auto number = numberOfOutput(op, op.getName());
    if (failed(number))
      return failure();
    Value entry = i64(op.getIndex());
    if (layer)
      entry = code.add(entry, layer);
    code.call("mille_keep",
              {code.run, address.lookup(op.getInput()),
               i64(rowStride(op.getInput())), rowsOf(op.getInput()),
               i64(columnsOf(op.getInput())), i32(*number), entry});
    return success();
  }

  FailureOr<int64_t> numberOfOutput(Operation *op, StringRef name) {
    int64_t number = signature.find(name);
    if (number < 0)
      return op->emitOpError()
             << "names \"" << name << "\" but no output has that name";
    return number;
  }

private:
  template <typename Op> Value windows(Op op, int64_t move) {
    const int64_t numbers[] = {move, op.getSide()[0], op.getSide()[1],
                               int64_t(op.getSize()), int64_t(op.getShift())};
    return integers(numbers);
  }
  Value i64(int64_t value) { return code.number(types.i64, value); }
  Value i32(int64_t value) { return code.number(types.i32, value); }
  Value integers(ArrayRef<int64_t> numbers) {
    return code.addressOf(constants.addIntegers(SmallVector<int32_t>(numbers)));
  }
  Value rowsOf(Value buffer) { return extent.lookup(buffer); }

  // Tokens of a sequence: the run's by name, since padding may be removed.
  Value tokensOf(Value number) {
    return number == tokens ? i64(MILLE_RUN_TOKENS) : index.lookup(number);
  }

  // The same of a buffer with a row per token, or with a fixed number of rows
  // in a sequence.
  Value tokensOfRows(Value buffer) {
    auto space = rowSpaceOf(buffer);
    return i64(!space || space->isPerToken() ? MILLE_RUN_TOKENS : space->times);
  }

  // An optional operand: null where it is absent.
  Value addressOrNull(Value buffer) {
    return buffer ? address.lookup(buffer) : code.addressOf("");
  }

  HostCode &code;
  const AbiTypes &types;
  ConstantPool &constants;
  const Signature &signature;
  const SharedSignature &shared;
  Value layer, tokens;
  DenseMap<Value, Value> &address, &extent, &index;
  ResizedTables &tables;
};

} // namespace

// A prepared op without a `lower` does not compile.
LogicalResult mille::lower::lowerPrepared(Operation *op, Bindings &bindings) {
  PreparedLowering lowering(bindings);
  auto noLowering = [](Operation *other) -> LogicalResult {
    return other->emitOpError("has no lowering to host code");
  };
  return Ops::visit<LogicalResult>(
      op,
      [&](auto known) -> LogicalResult {
        if constexpr (decltype(known)::template hasTrait<Prepared>())
          return lowering.lower(known);
        else
          return noLowering(known);
      },
      noLowering);
}

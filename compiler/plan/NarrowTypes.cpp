// Matmuls on bf16 or f16, on bytes or on blocks: decides which values are
// narrow, and where they are rounded.
// Must keep in f32 what norms, residual sums and the application read.
#include "compiler/plan/AttendedStates.h"
#include "compiler/plan/Lives.h"
#include "compiler/plan/NarrowTraining.h"
#include "compiler/plan/NarrowValues.h"
#include "compiler/plan/Passes.h"
#include "compiler/plan/ScaleSums.h"
#include "compiler/plan/WeightTypes.h"
#include "dialects/kernel/Signature.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

namespace mille::plan {
#define GEN_PASS_DEF_NARROWTYPES
#include "compiler/plan/Passes.h.inc"
} // namespace mille::plan

using namespace mlir;
using namespace mille::kernel;
using namespace mille::plan;
using mille::Dtype;
using mille::transformer::ApplyAttr, mille::transformer::ByteKind,
    mille::transformer::ColumnRmsAttr, mille::transformer::InBlocksAttr,
    mille::transformer::QuantizedAttr, mille::transformer::ReshapeAttr,
    mille::transformer::RowScalesAttr, mille::transformer::RowSumsAttr,
    mille::transformer::SliceAttr, mille::transformer::TimesAttr,
    mille::transformer::ValueFunction;

namespace {

class Narrow {
public:
  // `usual`: the type of matmuls whose weights name none, which says what
  // attention and states are too.
  Narrow(func::FuncOp forward, Dtype usual,
         ArrayRef<mille::plan::AttendedState> states)
      : forward(forward), usual(usual),
        halfKind(usual.kind == Dtype::f16 ? Dtype::f16 : Dtype::bf16),
        half(halfKind == Dtype::f16
                 ? Type(Float16Type::get(forward.getContext()))
                 : Type(BFloat16Type::get(forward.getContext()))) {
    if (usual.kind == Dtype::f32)
      return;
    for (const mille::plan::AttendedState &state : states)
      if (state.entry == forward) {
        remembers.insert_range(state.remembers);
        recalls.insert_range(state.recalls);
        Value(state.state).setType(withElements(state.state.getType(), half));
      }
  }

  void run() {
    forward.walk([&](MatmulOp op) { chooseFor(op); });
    if (usual.kind != Dtype::f32)
      forward.walk([&](AttentionOp op) { holdHeads(op); });
    for (RememberOp op : remembers)
      hold(rootOf(op.getInput()));
    for (auto [op, dtype] : matmuls)
      if (dtype.kind != Dtype::blocks)
        hold(rootOf(cast<MatmulOp>(op).getInput()));
    for (RememberOp op : remembers)
      rememberNarrow(op);
    for (RecallOp op : recalls)
      attendNarrow(op.getResult());
    for (auto [op, dtype] : matmuls) {
      auto matmul = cast<MatmulOp>(op);
      if (dtype.kind == Dtype::blocks)
        toBlocks(matmul, dtype.encoding);
      else if (dtype.isOfBytes())
        toBytes(matmul, dtype.kind);
      else
        toHalf(matmul);
    }
    if (usual.kind != Dtype::f32 && half.isBF16())
      forward.walk([&](RowsOp op) { keepTables(op); });
  }

private:
  static void missed(Operation *op, const std::string &what) {
    remark::missed(op->getLoc(),
                   remark::RemarkOpts::name("NarrowTypes").category("plan"))
        << what;
  }

  void chooseFor(MatmulOp op) {
    auto [dtype, why] = weightTypeOf(op, usual, parameters);
    if (dtype.kind != Dtype::f32 && choosesExperts(op)) {
      dtype.kind = Dtype::f32;
      why = "it chooses experts";
    }
    const bool isHalf = dtype.kind == Dtype::bf16 || dtype.kind == Dtype::f16;
    if (isHalf && dtype.kind != halfKind) {
      dtype.kind = halfKind;
      why = "a program has one type of 16 bits";
    }
    // Rows become bytes as a whole, of which a head is a part; and weights that
    // are stored in no blocks need not be wider than what attention reads.
    const bool narrower = dtype.isOfBytes() || dtype.kind == Dtype::blocks;
    if (op.getHeads() &&
        (narrower || (usual.kind != Dtype::f32 && !why.empty()))) {
      dtype = {halfKind};
      why = "each head multiplies its own columns";
    }
    const bool staysWide = dtype.kind == Dtype::f32;
    if (!why.empty())
      missed(op, staysWide
                     ? "a matmul stays f32: " + why
                     : "a weight becomes " +
                           std::string(dtype.isOfBlocks() ? "blocks of " : "") +
                           mille::nameOf(dtype).str() + ": " + why);
    if (!staysWide)
      matmuls.insert({op, dtype});
  }

  static bool choosesExperts(MatmulOp op) {
    for (Value name : namesOf(op.getResult()))
      for (Operation *user : name.getUsers())
        if (isa<RouteOp>(user))
          return true;
    return false;
  }

  // Scores of bytes round each key anew. That is allowed only where every run
  // has all keys: causal attention may read keys of earlier runs.
  void allowByteScores(AttentionOp op) {
    bool everyKeyIsNew = op.getQueries() == op.getKeys() && !op.getCausal();
    op.setByteScores(everyKeyIsNew);
    if (!everyKeyIsNew)
      missed(op, "attention's scores stay bf16: keys may be of earlier steps");
  }

  // Next to blocks what is remembered, and its queries, alone are bf16.
  void holdHeads(AttentionOp op) {
    if (usual.isOfBlocks() && !isNarrowState(op.getKey()))
      return;
    for (Value heads : {op.getQuery(), op.getKey(), op.getValue()})
      hold(rootOf(heads));
    if (usual.kind == Dtype::int8)
      allowByteScores(op);
  }

  // Whether a use may read 16 bits.
  bool readsNarrow(OpOperand &use) {
    if (auto matmul = dyn_cast<MatmulOp>(use.getOwner()))
      return matmuls.contains(matmul) &&
             matmuls.lookup(matmul).kind != Dtype::blocks &&
             &use == &matmul.getInputMutable();
    if (auto attention = dyn_cast<AttentionOp>(use.getOwner()))
      return use.getOperandNumber() < 3 && // query, key, value
             (!attention.getPast() || isNarrowState(attention.getKey()));
    if (auto remember = dyn_cast<RememberOp>(use.getOwner()))
      return remembers.contains(remember) &&
             &use == &remember.getInputMutable();
    // Beside values that are remembered, as attention's own RoPE reads.
    if (auto rotate = dyn_cast<RotateOp>(use.getOwner()))
      return &use == &rotate.getInputMutable() &&
             cast<ShapedType>(rotate.getOut().getType()).getElementType() ==
                 half;
    return yieldsFromLaunch(use);
  }

  bool isNarrowState(Value value) {
    auto remember = value.getDefiningOp<RememberOp>();
    auto recall = value.getDefiningOp<RecallOp>();
    return remember ? remembers.contains(remember)
                    : recall && recalls.contains(recall);
  }

  // Makes what `op` writes bf16, with its input and with the queries that meet
  // it.
  void rememberNarrow(RememberOp op) {
    auto recall = op.getOut().getDefiningOp<RecallOp>();
    recall.getResult().setType(withElements(recall.getType(), half));
    Value like = attendNarrow(op.getResult());
    Operation *maker = rootOf(op.getInput()).getDefiningOp();
    if (!like) // another entry attends
      like = cast<DestinationStyleOpInterface>(maker).getDpsInits()[0];
    readNarrow(op.getInputMutable(), like);
  }

  // Makes keys or values of a state bf16, and the queries that meet them; gives
  // the out of such an attention, or null.
  Value attendNarrow(Value held) {
    held.setType(withElements(held.getType(), half));
    Value out;
    for (Operation *user : llvm::make_early_inc_range(held.getUsers())) {
      auto attention = cast<AttentionOp>(user);
      readNarrow(attention.getQueryMutable(), out = attention.getOut());
    }
    return out;
  }

  // Rounds to 16 bits in a copy with as many rows as `like`, before it is read.
  void readNarrow(OpOperand &use, Value like) {
    auto type = cast<RankedTensorType>(use.get().getType());
    if (!type.getElementType().isF32())
      return;
    Operation *op = use.getOwner();
    OpBuilder builder(op);
    Value out = destinationLike(builder, like, withElements(type, half));
    use.set(copyRows(builder, op->getLoc(), use.get(), out).getResult());
  }

  // Makes a value narrow in the op that computes it, if all its readers read
  // that.
  void hold(Value root) {
    holdAs(half, root, [&](OpOperand &use) { return readsNarrow(use); });
  }

  SmallVector<MatmulOp> readersOf(Value root, Dtype::Kind kind) {
    SmallVector<MatmulOp> readers;
    for (OpOperand &use : root.getUses()) {
      auto matmul = dyn_cast<MatmulOp>(use.getOwner());
      if (matmul && matmuls.contains(matmul) &&
          matmuls.lookup(matmul).kind == kind &&
          &use == &matmul.getInputMutable())
        readers.push_back(matmul);
    }
    return readers;
  }

  // Where the copy of `root` is made: in the launch that computes it, while its
  // rows are in cache; or else in the launch that holds all its readers; or
  // else before the first reader.
  struct Place {
    OpBuilder builder;
    Value like; // a destination with as many rows
  };
  Place placeFor(Value root, MatmulOp reader) {
    Operation *maker = root.getDefiningOp();
    if (maker && isa<LaunchOp>(maker->getParentOp())) {
      OpBuilder builder(maker->getContext());
      builder.setInsertionPointAfter(maker);
      return {builder,
              cast<DestinationStyleOpInterface>(maker).getDpsInits().front()};
    }
    Block *block = root.getParentBlock();
    SmallVector<MatmulOp> readers =
        readersOf(root, matmuls.lookup(reader).kind);
    Operation *first = nullptr,
              *last = nullptr; // readers, in that block
    for (MatmulOp matmul : readers) {
      Operation *at = block->findAncestorOpInBlock(*matmul);
      if (!first || at->isBeforeInBlock(first))
        first = at;
      if (!last || last->isBeforeInBlock(at))
        last = at;
    }
    if (first == last && isa<LaunchOp>(first))
      for (MatmulOp matmul : readers)
        if (isa<LaunchOp>(first) || matmul->isBeforeInBlock(first))
          first = matmul;
    return {OpBuilder(first), reader.getOut()};
  }

  SmallVector<Value> round(Place &place, Value root) {
    Value out = destinationLike(place.builder, place.like,
                                withElements(root.getType(), half));
    return {copyRows(place.builder, root.getLoc(), root, out).getResult()};
  }

  SmallVector<Value> quantize(Place &place, Value root, Dtype::Kind kind) {
    OpBuilder &builder = place.builder;
    Type element =
        kind == Dtype::fp8 ? Type(Float8E4M3FNType::get(builder.getContext()))
        : kind == Dtype::int8 ? builder.getIntegerType(8, /*isSigned=*/false)
                              : builder.getI8Type();
    const int64_t columns = cast<ShapedType>(root.getType()).getDimSize(1);
    Type types[] = {withElements(root.getType(), element),
                    RankedTensorType::get(
                        {ShapedType::kDynamic, rowParameters(element, columns)},
                        builder.getF32Type())};
    Value values = destinationLike(builder, place.like, types[0]);
    Value parameters = destinationLike(builder, place.like, types[1]);
    return SmallVector<Value>(QuantizeOp::create(builder, root.getLoc(), types,
                                                 root, values, parameters)
                                  .getResults());
  }

  // The narrow copy of a matmul's input; the readers of a value share one copy.
  SmallVector<Value> narrowed(MatmulOp op) {
    Value root = rootOf(op.getInput());
    const Dtype::Kind kind = matmuls.lookup(op).kind;
    auto at = copies.find({root, kind});
    if (at == copies.end()) {
      Place place = placeFor(root, op);
      at = copies.try_emplace({root, kind}).first;
      at->second =
          kind == halfKind ? round(place, root) : quantize(place, root, kind);
    }
    return seenFrom(op, at->second);
  }

  // Another weight with this value; the old one stays for its other readers.
  Value weight(WeightOp old, Attribute value, ArrayRef<int64_t> shape,
               Type element) {
    OpBuilder builder(old);
    return WeightOp::create(builder, old.getLoc(),
                            RankedTensorType::get(shape, element), value);
  }

  void toHalf(MatmulOp op) {
    auto old = op.getWeight().getDefiningOp<WeightOp>();
    auto shape = cast<ShapedType>(old.getResult().getType()).getShape();
    if (cast<ShapedType>(op.getInput().getType()).getElementType() != half)
      op.getInputMutable().assign(narrowed(op).front());
    op.getWeightMutable().assign(weight(old, old.getValue(), shape, half));
    if (old->use_empty())
      old.erase();
  }

  // Tables stay as they are stored, where that is bf16: no number changes.
  void keepTables(RowsOp op) {
    for (auto [input, gather] :
         llvm::zip_equal(op.getInputsMutable(), op.getGather())) {
      auto old = input.get().getDefiningOp<WeightOp>();
      if (gather < 0 || !old || !isStoredInBf16(old, parameters))
        continue;
      auto shape = cast<ShapedType>(old.getResult().getType()).getShape();
      input.set(weight(old, old.getValue(), shape, half));
      if (old->use_empty())
        old.erase();
    }
  }

  // Integers of a row have one step, so that large columns are made smaller
  // first. The step of a float is as large as its number.
  void toBytes(MatmulOp op, Dtype::Kind kind) {
    const bool floats = kind == Dtype::fp8;
    const ByteKind bytes = floats ? ByteKind::e4m3 : ByteKind::i8;
    auto old = op.getWeight().getDefiningOp<WeightOp>();
    auto shape =
        llvm::to_vector(cast<ShapedType>(old.getResult().getType()).getShape());
    Attribute numbers = floats ? old.getValue() : equalized(op, old);
    Attribute value = QuantizedAttr::get(op.getContext(), numbers, bytes);
    SmallVector<Value> input = narrowed(op);
    op.getInputMutable().assign(input[0]);
    Type element = cast<ShapedType>(input[0].getType()).getElementType();
    op.getWeightMutable().assign(
        weight(old, value, shape,
               floats ? element : Builder(op.getContext()).getI8Type()));
    if (!floats)
      undoSteps(op, old, value, shape, input[1]);
    scaleSums(op, scalesOf(op, old, numbers, shape, bytes));
    if (floats)
      scaleRows(op, input[1]);
    if (old->use_empty())
      old.erase();
  }

  // What integers of a row stand for: their step and zero, and the outlier.
  void undoSteps(MatmulOp op, WeightOp old, Attribute value,
                 SmallVector<int64_t> column, Value parameters) {
    column.back() = 1;
    Attribute sums = RowSumsAttr::get(op.getContext(), value);
    op.getParametersMutable().assign(parameters);
    op.getSumsMutable().assign(
        weight(old, sums, column, Builder(op.getContext()).getI32Type()));
  }

  void toBlocks(MatmulOp op, mille::Encoding to) {
    auto old = op.getWeight().getDefiningOp<WeightOp>();
    auto type = cast<ShapedType>(old.getResult().getType());
    SmallVector<Value> input = narrowed(op);
    op.getInputMutable().assign(input[0]);
    op.getParametersMutable().assign(input[1]);
    op.getWeightMutable().assign(
        weight(old, InBlocksAttr::get(op.getContext(), old.getValue(), to),
               type.getShape(), type.getElementType()));
    op.setBlocks(to);
    if (old->use_empty())
      old.erase();
  }

  // The matmul that computes the input of `op`, where `op` is its only reader.
  MatmulOp makerFor(MatmulOp op) {
    Value root = rootOf(op.getInput());
    auto maker = root.getDefiningOp<MatmulOp>();
    if (!maker || maker.getHeads() ||
        !maker.getWeight().getDefiningOp<WeightOp>() ||
        cast<ShapedType>(root.getType()).getElementType() != half)
      return {};
    for (Value name : namesOf(root))
      for (OpOperand &use : name.getUses())
        if (!yieldsFromLaunch(use) && &use != &op.getInputMutable())
          return {};
    return maker;
  }

  // The value of the weight before it is quantised. A few large columns would
  // make the step of every row large. So each column is divided by the root of
  // its relative size, and the epilogue of the matmul that computes the input
  // multiplies by that root (cross-layer equalization, arXiv:1906.04721, on one
  // side only).
  Attribute equalized(MatmulOp op, WeightOp old) {
    MLIRContext *context = op.getContext();
    Attribute value = old.getValue();
    MatmulOp maker = makerFor(op);
    auto shape = cast<ShapedType>(old.getResult().getType()).getShape();
    if (!maker || shape.size() != 2)
      return value;
    Attribute sizes = ColumnRmsAttr::get(context, value);
    auto rootOfSizes = ApplyAttr::get(context, sizes, ValueFunction::sqrt);
    auto channels = DenseI64ArrayAttr::get(context, shape.back());
    Value factor = weight(maker.getWeight().getDefiningOp<WeightOp>(),
                          ReshapeAttr::get(context, rootOfSizes, channels),
                          shape.back(), Float32Type::get(context));
    maker.getExtrasMutable().append(factor);
    Block &region = maker.getEpilogue().front();
    Value ofChannel =
        region.addArgument(Float32Type::get(context), maker.getLoc());
    auto yield = cast<YieldOp>(region.getTerminator());
    OpBuilder builder(yield);
    Value result = yield.getOperand(0);
    yield.setOperand(
        0, arith::MulFOp::create(builder, maker.getLoc(), result, ofChannel));
    return TimesAttr::get(context, value,
                          ApplyAttr::get(context, sizes, ValueFunction::rsqrt));
  }

  // The row scales of the quantised weight, for each accumulator.
  SmallVector<Value> scalesOf(MatmulOp op, WeightOp old, Attribute numbers,
                              ArrayRef<int64_t> shape, ByteKind bytes) {
    Attribute scales = RowScalesAttr::get(op.getContext(), numbers, bytes);
    SmallVector<int64_t> each(shape.drop_back());
    int64_t axis = each.size() - 1, accumulators = op.getAccumulators();
    each.back() /= accumulators;
    SmallVector<Value> values;
    for (int64_t a = 0; a < accumulators; ++a) {
      Attribute part = scales;
      if (accumulators > 1)
        part = SliceAttr::get(op.getContext(), scales, axis, a * each.back(),
                              each.back(), 1);
      values.push_back(
          weight(old, part, each, Float32Type::get(op.getContext())));
    }
    return values;
  }

  func::FuncOp forward;
  Dtype usual;
  SymbolTableCollection parameters; // by name
  Dtype::Kind halfKind;             // of values that are neither f32 nor bytes
  Type half;
  llvm::MapVector<Operation *, Dtype> matmuls; // those that become narrow
  llvm::SetVector<RememberOp> remembers;       // of narrow states
  llvm::SetVector<RecallOp> recalls;           // that attention reads
  // Of each root, for the matmuls of each kind.
  DenseMap<std::pair<Value, int>, SmallVector<Value>> copies;
};

struct NarrowTypes : mille::plan::impl::NarrowTypesBase<NarrowTypes> {
  using NarrowTypesBase::NarrowTypesBase;
  void runOnOperation() override {
    std::optional<Dtype> usual = mille::dtypeNamed(dtype);
    if (!usual) {
      getOperation().emitError() << "dtype is '" << dtype << "' but must be "
                                 << llvm::join(mille::dtypeNames(), ", ");
      return signalPassFailure();
    }
    std::vector<mille::plan::AttendedState> states;
    if (cache != "f16")
      states = mille::plan::attendedStates(getOperation());
    getOperation().walk([&](func::FuncOp forward) {
      if (!forward.getBody().hasOneBlock())
        return;
      if (usual->kind == Dtype::bf16 && packsWeights(forward))
        narrowTrainedMatmuls(forward);
      else
        Narrow(forward, *usual, states).run();
      forward.setType(FunctionType::get(&getContext(),
                                        forward.getBody().getArgumentTypes(),
                                        forward.getResultTypes()));
    });
    if (usual->kind == Dtype::stored && !hasBlocks()) {
      getOperation().emitError("dtype is 'stored' but no weight of a matmul is "
                               "stored in blocks");
      signalPassFailure();
    }
  }

private:
  bool hasBlocks() {
    return getOperation()
        .walk([](MatmulOp op) {
          return op.getBlocks() ? WalkResult::interrupt()
                                : WalkResult::advance();
        })
        .wasInterrupted();
  }
};

} // namespace

// Fuses the projections of query, key and value into one matmul, with the norms
// of their heads. Must not fuse projections of different inputs.
#include "compiler/fuse/FusionReport.h"
#include "compiler/fuse/MergeRows.h"
#include "compiler/fuse/Passes.h"
#include "compiler/fuse/Storage.h"
#include "dialects/kernel/Remembered.h"

namespace mille {
#define GEN_PASS_DEF_FUSEQKV
#include "compiler/fuse/Passes.h.inc"
} // namespace mille

using namespace mlir;
using namespace mille;
using kernel::MatmulOp;
using kernel::RememberOp;
using kernel::RotateOp;
using kernel::RowsOp;
using kernel::WeightOp;

namespace {

// The ops that compute one operand of an attention: a matmul, perhaps a norm.
// Where keys and values are a state's: perhaps RoPE behind these, and what
// appends the rows to the state.
struct Projection {
  OpOperand *read = nullptr; // attention's, or that of `remember`
  unsigned place = 0;        // 0 query, 1 key, 2 value
  MatmulOp matmul;
  RowsOp norm;
  RotateOp turn;
  RememberOp remember;

  Operation *made() { return norm ? norm.getOperation() : matmul; }
  Operation *last() { return turn ? turn.getOperation() : made(); }
};

using Projections = SmallVector<Projection, 3>;

Projection projectionOf(OpOperand &read, unsigned place, bool ofState) {
  Projection projection{&read, place, {}, {}, {}, {}};
  Value made = read.get();
  if (RememberOp remember = made.getDefiningOp<RememberOp>();
      remember && ofState) {
    projection.remember = remember;
    projection.read = &remember.getInputMutable();
    made = remember.getInput();
  }
  if (RotateOp turn = made.getDefiningOp<RotateOp>(); turn && ofState) {
    projection.turn = turn;
    made = turn.getInput();
  }
  if (auto norm = made.getDefiningOp<RowsOp>();
      norm && norm.getNorm() && norm.getIndices().empty()) {
    projection.norm = norm;
    made = norm.getInputs()[0];
  }
  projection.matmul = made.getDefiningOp<MatmulOp>();
  return projection;
}

bool isPlain(MatmulOp matmul) {
  return matmul.getExtras().empty() &&
         matmul.getEpilogue().front().getOperations().size() == 1;
}

// acc + bias and nothing else.
bool isBiased(MatmulOp matmul) {
  Block &block = matmul.getEpilogue().front();
  if (matmul.getExtras().size() != 1 || block.getOperations().size() != 2)
    return false;
  auto sum = dyn_cast<arith::AddFOp>(block.front());
  return sum && sum.getLhs() == block.getArgument(0) &&
         sum.getRhs() == block.getArgument(1);
}

int64_t columnsOf(MatmulOp matmul) {
  return cast<ShapedType>(matmul.getOut().getType()).getShape().back();
}

bool isColumn(MatmulOp matmul, Value extra) {
  auto type = cast<ShapedType>(extra.getType());
  return type.getRank() == 1 && type.getDimSize(0) == columnsOf(matmul) &&
         extra.getDefiningOp<WeightOp>();
}

bool isByElement(MatmulOp matmul, Value extra) {
  return kernel::accessOf(cast<ShapedType>(extra.getType()),
                          columnsOf(matmul)) == kernel::Access::element;
}

// Why a projection cannot be a part of one matmul; empty where it can.
std::string whyNotPart(Operation *op, Projection &part, Projections &all) {
  MatmulOp matmul = part.matmul;
  if (!matmul)
    return missing::between.str();
  if (matmul->getBlock() != op->getBlock())
    return "a projection is made outside the layer";
  if (matmul.getInput() != all[0].matmul.getInput())
    return "query, key and value are projections of different inputs";
  for (OpOperand &use : part.last()->getResult(0).getUses())
    if (llvm::none_of(all, [&](Projection &one) { return one.read == &use; }))
      return missing::otherReader.str();
  if ((part.norm && !matmul.getResult().hasOneUse()) ||
      (part.turn && !part.made()->hasOneUse()))
    return missing::otherReader.str();
  if (!matmul.getWeight().getDefiningOp<WeightOp>())
    return "a weight is not a parameter";
  if (matmul.getAccumulators() != 1)
    return "a projection has two accumulators already";
  if (matmul.getStarts() || matmul.getHeads())
    return "a projection is by expert or by head";
  if (!matmul.getOut().getDefiningOp<tensor::EmptyOp>())
    return "a projection's destination is not its own";
  return "";
}

// Why the norms after the projections cannot be one norm; empty where they can,
// or where there are none.
std::string whyNotNorm(Projections &all) {
  RowsOp first = all[0].norm;
  for (Projection &part : all) {
    if (bool(part.norm) != bool(first))
      return "not all of query, key and value are normed";
    if (!first)
      continue;
    if (!first.getNormAttr().getGroup())
      return missing::allHeads.str();
    if (part.norm.getNormAttr() != first.getNormAttr() ||
        part.norm.getInputs().size() != first.getInputs().size() ||
        !sameScalar(part.norm.getBody(), first.getBody()))
      return "the norms are different";
    for (Value input : part.norm.getInputs().drop_front())
      if (!isColumn(part.matmul, input))
        return "the norms read more than parameters";
    if (!part.norm.getOut().getDefiningOp<tensor::EmptyOp>())
      return "a projection's destination is not its own";
  }
  return "";
}

// Why RoPE behind the projections cannot be one op, and one append for each of
// keys and values; empty where they can.
std::string whyNotRemember(Operation *op, Projections &all) {
  std::set<std::string> storage;
  for (Projection &part : all) {
    if (part.place && !part.remember)
      return missing::between.str();
    if (RememberOp remember = part.remember)
      for (Operation *user : remember->getUsers())
        if (user != op)
          return "something else reads what is remembered";
    auto weight = part.matmul.getWeight().getDefiningOp<WeightOp>();
    std::set<std::string> own = storageOf(weight);
    if (part.place && own != storage)
      return "the projections' weights are stored in different types";
    storage = own;
  }
  RotateOp query = all[0].turn, key = all[1].turn;
  if (all.size() > 2 && all[2].turn)
    return "values are turned";
  if (bool(query) != bool(key) ||
      (query && (query.getRotation() != key.getRotation() ||
                 query.getHeadDim() != key.getHeadDim() ||
                 query.getPairing() != key.getPairing() ||
                 query.getStart() != key.getStart())))
    return "query and key are turned differently";
  return "";
}

// Why the projections cannot be one matmul; empty where they can.
std::string whyNotJoin(Operation *op, Projections &all) {
  for (Projection &part : all)
    if (std::string why = whyNotPart(op, part, all); !why.empty())
      return why;
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (all[i].matmul == all[j].matmul)
        return "two of query, key and value are one projection already";
  if (std::string why = whyNotNorm(all); !why.empty())
    return why;
  bool simple = llvm::all_of(all, [](Projection &part) {
    return isPlain(part.matmul) ||
           (isBiased(part.matmul) &&
            isColumn(part.matmul, part.matmul.getExtras()[0]));
  });
  if (simple)
    return "";
  MatmulOp model = all[0].matmul;
  for (Projection &part : all) {
    if (!sameScalar(model.getEpilogue(), part.matmul.getEpilogue()))
      return "the projections have different epilogues";
    for (auto [mine, first] :
         llvm::zip(part.matmul.getExtras(), model.getExtras()))
      if (!isColumn(part.matmul, mine) &&
          (mine != first || isByElement(part.matmul, mine)))
        return "the projections' epilogues read different values";
  }
  return "";
}

Attribute valueOf(Value weight) {
  return weight.getDefiningOp<WeightOp>().getValue();
}

Value makeWeight(OpBuilder &builder, Location location,
                 ArrayRef<Attribute> values, ArrayRef<int64_t> shape) {
  return WeightOp::create(
      builder, location, RankedTensorType::get(shape, builder.getF32Type()),
      transformer::ConcatAttr::get(builder.getContext(), values));
}

// A bias of zeros, for a projection without one where another has one.
Attribute zeros(MLIRContext *context, int64_t size) {
  return transformer::DrawnAttr::get(
      context, transformer::Distribution::fixed, 0.0, 0.0, 0.0, 0, "",
      RankedTensorType::get({size}, Float32Type::get(context)));
}

// The joined extras and the epilogue that reads them.
Region &joinExtras(OpBuilder &builder, Projections &all, int64_t columns,
                   SmallVectorImpl<Value> &extras) {
  auto biased = llvm::find_if(
      all, [](Projection &part) { return isBiased(part.matmul); });
  bool simple = llvm::all_of(all, [](Projection &part) {
    return isPlain(part.matmul) || isBiased(part.matmul);
  });
  MatmulOp model =
      simple && biased != all.end() ? biased->matmul : all[0].matmul;
  for (size_t i = 0; i < model.getExtras().size(); ++i) {
    if (llvm::all_of(all, [&](Projection &part) {
          return !part.matmul.getExtras().empty() &&
                 part.matmul.getExtras()[i] == model.getExtras()[i] &&
                 !isColumn(part.matmul, part.matmul.getExtras()[i]);
        })) {
      extras.push_back(model.getExtras()[i]);
      continue;
    }
    SmallVector<Attribute> parts;
    for (Projection &part : all)
      parts.push_back(part.matmul.getExtras().empty()
                          ? zeros(builder.getContext(), columnsOf(part.matmul))
                          : valueOf(part.matmul.getExtras()[i]));
    extras.push_back(makeWeight(builder, model.getLoc(), parts, {columns}));
  }
  return model.getEpilogue();
}

Operation *lastOf(Projections &all) {
  Operation *last = all[0].last();
  for (Projection &part : all)
    if (last->isBeforeInBlock(part.last()))
      last = part.last();
  return last;
}

// The norm of the joined projections, where they have one.
Value joinNorms(OpBuilder &builder, Projections &all, Value joined, Value rows,
                int64_t columns) {
  RowsOp model = all[0].norm;
  if (!model)
    return joined;
  RowsParts spec;
  spec.inputs.push_back(joined);
  spec.norm = model.getNormAttr();
  for (size_t i = 1; i < model.getInputs().size(); ++i) {
    SmallVector<Attribute> parts;
    for (Projection &part : all)
      parts.push_back(valueOf(part.norm.getInputs()[i]));
    spec.inputs.push_back(
        makeWeight(builder, model.getLoc(), parts, {columns}));
  }
  return makeRows(builder, model.getLoc(), spec, rows, columns,
                  [&](OpBuilder &inner, Location, ValueRange arguments) {
                    return inlineScalar(inner, model.getBody(), arguments);
                  });
}

// RoPE of the joined queries and keys, where they have one.
Value joinTurns(OpBuilder &builder, Projections &all, Value joined,
                Value rows) {
  RotateOp query = all[0].turn;
  if (!query)
    return Value();
  const int64_t heads = query.getHeads() + all[1].turn.getHeads();
  Value out = makeDestination(builder, query.getLoc(), rows,
                              heads * query.getHeadDim());
  return RotateOp::create(builder, query.getLoc(), out.getType(), joined,
                          query.getRotation(), out, heads, query.getHeadDim(),
                          query.getPairing(), query.getStart())
      .getResult();
}

template <typename Attention> Operation *join(Attention op, Projections &all) {
  OpBuilder builder(lastOf(all));
  Location location = all.back().matmul.getLoc();
  Value input = all[0].matmul.getInput();
  int64_t columns = 0,
          depth = cast<ShapedType>(input.getType()).getShape().back();
  SmallVector<int64_t> offsets(op.getOffsets());
  SmallVector<Attribute> weights;
  for (Projection &part : all) {
    if (part.remember)
      kernel::setFrom(part.remember, columns);
    else
      offsets[part.place] += columns;
    columns += columnsOf(part.matmul);
    weights.push_back(valueOf(part.matmul.getWeight()));
  }
  SmallVector<Value> extras;
  Region &epilogue = joinExtras(builder, all, columns, extras);
  Value rows = all[0]
                   .matmul.getOut()
                   .template getDefiningOp<tensor::EmptyOp>()
                   .getDynamicSizes()[0];
  Value product = makeMatmul(
      builder, location, input,
      makeWeight(builder, location, weights, {columns, depth}), Value(), extras,
      1, makeDestination(builder, location, rows, columns),
      [&](OpBuilder &inner, Location, ValueRange arguments) {
        return inlineScalar(inner, epilogue, arguments);
      });
  Value joined = joinNorms(builder, all, product, rows, columns);
  Value turned = joinTurns(builder, all, joined, rows);
  for (Projection &part : all) {
    part.read->set(part.turn ? turned : joined);
    if (part.remember) // behind RoPE, keys and values side by side
      part.remember->moveBefore(op);
  }
  op.setOffsets(offsets);
  for (Projection &part : all) {
    if (part.turn)
      part.turn.erase();
    if (part.norm)
      part.norm.erase();
    part.matmul.erase();
  }
  return product.getDefiningOp();
}

bool readsState(kernel::AttentionOp op) { return bool(op.getPast()); }
bool readsState(kernel::LinearAttentionOp) { return false; }

struct FuseQkv : mille::impl::FuseQkvBase<FuseQkv> {
  void runOnOperation() override {
    for (auto function : getOperation().getBody().getOps<func::FuncOp>()) {
      FusionReport report(function, boundary::qkv);
      function.walk([&](kernel::AttentionOp op) { fuse(op, report); });
      function.walk([&](kernel::LinearAttentionOp op) { fuse(op, report); });
      eraseDead(function);
    }
  }

  // All three projections, or two of them.
  template <typename Attention> void fuse(Attention op, FusionReport &report) {
    constexpr StringLiteral names[] = {"query", "key", "value"};
    ArrayRef<int64_t> offsets = op.getOffsets();
    const bool ofState = readsState(op);
    auto key = op.getKey().template getDefiningOp<RememberOp>();
    if (ofState && key && kernel::fromOf(key))
      return; // done already
    for (unsigned i : {0, 1, 2})
      for (unsigned j = 0; j < i; ++j)
        if (op->getOperand(i) == op->getOperand(j) && offsets[i] != offsets[j])
          return; // done already
    std::string whyNotAll;
    const SmallVector<unsigned, 3> choices[] = {
        {0, 1, 2}, {1, 2}, {0, 1}, {0, 2}};
    for (ArrayRef<unsigned> places : choices) {
      if (ofState && (places[0] != 0 || places[1] != 1))
        continue; // what is first needs no column
      Projections all;
      for (unsigned place : places)
        all.push_back(projectionOf(op->getOpOperand(place), place, ofState));
      std::string why = whyNotJoin(op, all);
      if (why.empty() && ofState)
        why = whyNotRemember(op, all);
      if (whyNotAll.empty())
        whyNotAll = why;
      if (!why.empty())
        continue;
      int64_t saved = all.size() - 1;
      int64_t bytes = saved * rowBytes(all[0].matmul.getInput());
      std::string how = "one matmul";
      if (saved == 1)
        how = (names[places[0]] + " and " + names[places[1]] +
               " in one matmul: " + whyNotAll)
                  .str();
      int64_t launches = saved * (all[0].norm ? 2 : 1) + bool(all[0].turn);
      report.fused(join(op, all), bytes, launches, how);
      return;
    }
    report.declined(op, whyNotAll);
  }
};

} // namespace

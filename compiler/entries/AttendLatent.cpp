// Lets attention read the few channels that keys and values are made of.
// Must not know a family, nor which states hold them.
#include "compiler/entries/AttendLatent.h"
#include "dialects/transformer/Transformer.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mille;
using namespace mille::transformer;

namespace {

int64_t channelsOf(Value value) {
  return cast<ShapedType>(value.getType()).getShape().back();
}

RankedTensorType withChannels(Value like, int64_t channels) {
  auto type = cast<RankedTensorType>(like.getType());
  auto shape = llvm::to_vector(type.getShape());
  shape.back() = channels;
  return RankedTensorType::get(shape, type.getElementType());
}

// A linear that is its weight alone; null for any other value.
LinearOp plainLinear(Value value) {
  auto linear = value.getDefiningOp<LinearOp>();
  if (!linear || linear.getExperts() || linear.getBiasAttr() ||
      linear.getTransposed() || linear.getScale().convertToDouble() != 1)
    return {};
  return linear;
}

// The linears whose sum a value is; false where it is anything else.
bool termsOf(Value value, SmallVectorImpl<LinearOp> &terms) {
  if (auto add = value.getDefiningOp<AddOp>())
    return termsOf(add.getLeft(), terms) && termsOf(add.getRight(), terms);
  terms.push_back(plainLinear(value));
  return bool(terms.back());
}

// What an attention's keys and values are made of.
struct Latent {
  SmallVector<LinearOp> key;
  LinearOp value;
  int64_t columns = 0; // of all inputs of `key`, side by side
};

std::optional<Latent> latentOf(AttendOp op) {
  if (op.getMask() != Mask::causal || op.getPast() || op.getPrefix() ||
      !op.getBiases().empty() || op.getKvHeads() != op.getHeads())
    return {};
  Latent latent;
  latent.value = plainLinear(op.getValue());
  if (!latent.value || !termsOf(op.getKey(), latent.key))
    return {};
  for (LinearOp term : latent.key)
    latent.columns += channelsOf(term.getInput());
  // What values are made of comes first.
  auto read = llvm::find_if(latent.key, [&](LinearOp term) {
    return term.getInput() == latent.value.getInput();
  });
  const bool reads = read != latent.key.end();
  if (reads)
    std::rotate(latent.key.begin(), read, std::next(read));
  // One term alone would be keys and values at once, which no state is.
  const int64_t now = channelsOf(op.getKey()) + channelsOf(op.getValue());
  if (!reads || latent.key.size() < 2 ||
      latent.columns + channelsOf(latent.value.getInput()) >= now)
    return {};
  return latent;
}

class Attend {
public:
  Attend(ModelOp model, LatentRows rows) : rows(rows), symbols(model) {
    for (ParameterOp parameter : model.getOps<ParameterOp>())
      known.try_emplace(parameter.getValue(),
                        FlatSymbolRefAttr::get(parameter.getSymNameAttr()));
  }

  void rewrite(AttendOp op, Latent latent) {
    const int64_t heads = op.getHeads(), width = latent.columns,
                  taken = channelsOf(latent.value.getInput());
    OpBuilder builder(op);
    Location location = op.getLoc();
    Value key = sideBySide(builder, location, latent);
    Value query = LinearByHeadOp::create(
        builder, location, withChannels(op.getQuery(), heads * width),
        op.getQuery(), ofQuery(latent, heads, op.getHeadDim()),
        builder.getI64IntegerAttr(heads));
    auto attend = cast<AttendOp>(builder.clone(*op));
    attend.getQueryMutable().assign(query);
    attend.getKeyMutable().assign(key);
    attend.getValueMutable().assign(
        rows == LatentRows::one ? key : latent.value.getInput());
    attend.setKvHeads(1);
    attend.setHeadDim(width);
    attend.setValueDim(taken);
    attend.getResult().setType(withChannels(op.getResult(), heads * taken));
    Value out = LinearByHeadOp::create(
        builder, location, op.getResult().getType(), attend.getResult(),
        ofOut(latent, heads, op.getValueDim()),
        builder.getI64IntegerAttr(heads));
    op.getResult().replaceAllUsesWith(out);
    SmallVector<Value> old{op.getKey(), op.getValue()};
    op.erase();
    for (Value value : old)
      erase(value);
  }

private:
  // The inputs of the keys' linears as one row: each is copied to its columns
  // by a weight of ones and zeros, which is exact in f32.
  Value sideBySide(OpBuilder &builder, Location location, Latent &latent) {
    Value sum;
    int64_t first = 0;
    for (LinearOp term : latent.key) {
      const int64_t own = channelsOf(term.getInput());
      Value copy = LinearOp::create(
          builder, location, withChannels(term.getInput(), latent.columns),
          term.getInput(), Value(),
          copying(term.getWeightAttr(), first, own, latent.columns),
          FlatSymbolRefAttr(), builder.getF64FloatAttr(1.0));
      sum =
          sum ? AddOp::create(builder, location, sum, copy).getResult() : copy;
      first += own;
    }
    return sum;
  }

  Attribute drawn(double number, ArrayRef<int64_t> shape) {
    MLIRContext *context = symbols.getOp()->getContext();
    return DrawnAttr::get(
        context, Distribution::fixed, number, 0.0, 0.0, 0,
        number ? "ones" : "zeros",
        RankedTensorType::get(shape, Float32Type::get(context)));
  }

  Attribute reshaped(Attribute value, ArrayRef<int64_t> shape) {
    MLIRContext *context = value.getContext();
    return ReshapeAttr::get(context, value,
                            DenseI64ArrayAttr::get(context, shape));
  }

  // [all, own]: rows `first` to first + own - 1 are the identity, others 0.
  FlatSymbolRefAttr copying(FlatSymbolRefAttr like, int64_t first, int64_t own,
                            int64_t all) {
    MLIRContext *context = like.getContext();
    // own rows of own + 1 numbers, of which the first is 1, in rows of own.
    Attribute row = ConcatAttr::get(
        context, ArrayRef<Attribute>{drawn(1, {1, 1}), drawn(0, {own, 1})});
    Attribute rows =
        RepeatAttr::get(context, reshaped(row, {1, own + 1}), own, false);
    Attribute identity =
        reshaped(SliceAttr::get(context, reshaped(rows, {own * (own + 1)}), 0,
                                0, own * own, 1),
                 {own, own});
    SmallVector<Attribute> parts;
    if (first)
      parts.push_back(drawn(0, {first, own}));
    parts.push_back(identity);
    if (int64_t rest = all - first - own)
      parts.push_back(drawn(0, {rest, own}));
    return parameter(like, "copied", ConcatAttr::get(context, parts),
                     {all, own}, StringAttr::get(context, "f32"));
  }

  // Each head's weights of the keys, transposed: [heads, columns, head_dim].
  FlatSymbolRefAttr ofQuery(Latent &latent, int64_t heads, int64_t headDim) {
    MLIRContext *context = latent.value.getContext();
    auto permuted = [&](Attribute value, ArrayRef<int64_t> order) {
      return PermuteAttr::get(context, value,
                              DenseI64ArrayAttr::get(context, order));
    };
    SmallVector<Attribute> parts; // [own, heads, head_dim]
    for (LinearOp term : latent.key)
      parts.push_back(
          permuted(reshaped(term.getWeightAttr(),
                            {heads, headDim, channelsOf(term.getInput())}),
                   {2, 0, 1}));
    FlatSymbolRefAttr first = latent.key.front().getWeightAttr();
    return parameter(first, "by_head",
                     permuted(ConcatAttr::get(context, parts), {1, 0, 2}),
                     {heads, latent.columns, headDim}, dtypeOf(first));
  }

  // Each head's weight of the values: [heads, value_dim, own].
  FlatSymbolRefAttr ofOut(Latent &latent, int64_t heads, int64_t valueDim) {
    FlatSymbolRefAttr weight = latent.value.getWeightAttr();
    const SmallVector<int64_t, 3> shape{heads, valueDim,
                                        channelsOf(latent.value.getInput())};
    return parameter(weight, "by_head", reshaped(weight, shape), shape,
                     dtypeOf(weight));
  }

  StringAttr dtypeOf(FlatSymbolRefAttr name) {
    return symbols.lookup<ParameterOp>(name.getAttr()).getDtypeAttr();
  }

  // layers.0.attn.k.weight -> layers.0.attn.k_by_head.weight
  FlatSymbolRefAttr parameter(FlatSymbolRefAttr from, StringRef how,
                              Attribute value, ArrayRef<int64_t> shape,
                              StringAttr dtype) {
    FlatSymbolRefAttr &symbol = known[value];
    if (symbol)
      return symbol;
    Operation *origin = symbols.lookup(from.getValue());
    auto [owner, last] = from.getValue().rsplit('.');
    OpBuilder builder(origin->getContext());
    builder.setInsertionPointAfter(origin);
    auto made = ParameterOp::create(
        builder, origin->getLoc(),
        (owner + "_" + how + (last.empty() ? "" : "." + last.str())).str(),
        RankedTensorType::get(shape, builder.getF32Type()), value, dtype,
        DenseI64ArrayAttr());
    made->remove(); // insert() places it and finds a free name
    symbols.insert(made, std::next(origin->getIterator()));
    return symbol = FlatSymbolRefAttr::get(made.getSymNameAttr());
  }

  // A value that nothing reads any more, and what only it read.
  static void erase(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !op->use_empty() || !isa<AddOp, LinearOp>(op))
      return;
    SmallVector<Value> read(op->getOperands());
    op->erase();
    for (Value one : read)
      erase(one);
  }

  LatentRows rows;
  SymbolTable symbols;
  DenseMap<Attribute, FlatSymbolRefAttr> known; // parameters by their value
};

} // namespace

void mille::entries::attendLatent(func::FuncOp entry, LatentRows rows) {
  SmallVector<AttendOp> ops;
  entry.walk([&](AttendOp op) { ops.push_back(op); });
  std::optional<Attend> attend;
  for (AttendOp op : ops)
    if (std::optional<Latent> latent = latentOf(op)) {
      if (!attend)
        attend.emplace(entry->getParentOfType<ModelOp>(), rows);
      attend->rewrite(op, *latent);
    }
}

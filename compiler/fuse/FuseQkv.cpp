// The projections of query, key and value into one matmul.
// Must not fuse projections of different inputs.
#include "compiler/fuse/FusionReport.h"
#include "compiler/fuse/MergeRows.h"
#include "compiler/fuse/Passes.h"

#include <array>

namespace mille {
#define GEN_PASS_DEF_FUSEQKV
#include "compiler/fuse/Passes.h.inc"
} // namespace mille

using namespace mlir;
using namespace mille;
using kernel::AttentionOp;
using kernel::MatmulOp;
using kernel::WeightOp;

namespace {

using Projections = std::array<MatmulOp, 3>;

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

// Why they cannot be one matmul; empty where they can.
std::string whyNotJoin(AttentionOp op, Projections &all) {
  for (MatmulOp matmul : all) {
    if (!matmul)
      return "a kernel stands between a projection and the attention";
    if (matmul->getBlock() != op->getBlock())
      return "a projection is made outside the layer";
    if (matmul.getInput() != all[0].getInput())
      return "query, key and value are projections of different inputs";
    if (!llvm::all_of(matmul.getResult().getUsers(), [&](Operation *user) {
          return user == op.getOperation();
        }))
      return "a projection has another reader";
    if (!matmul.getWeight().getDefiningOp<WeightOp>())
      return "a weight is not a parameter";
    if (matmul.getAccumulators() != 1)
      return "a projection has two accumulators already";
    if (!matmul.getOut().getDefiningOp<tensor::EmptyOp>())
      return "a projection's destination is not its own";
  }
  if (all[0] == all[1] || all[1] == all[2] || all[0] == all[2])
    return "two of query, key and value are one projection already";
  bool simple = llvm::all_of(all, [](MatmulOp matmul) {
    return isPlain(matmul) ||
           (isBiased(matmul) && isColumn(matmul, matmul.getExtras()[0]));
  });
  if (simple)
    return "";
  for (MatmulOp matmul : all) {
    if (!sameScalar(all[0].getEpilogue(), matmul.getEpilogue()))
      return "the projections have different epilogues";
    for (auto [mine, first] : llvm::zip(matmul.getExtras(), all[0].getExtras()))
      if (mine != first && !isColumn(matmul, mine))
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

// A bias of zeros for a projection that has none beside ones that do.
Attribute zeros(MLIRContext *context, int64_t size) {
  return transformer::DrawnAttr::get(
      context, transformer::Distribution::fixed, 0.0, 0.0, 0.0, 0, "",
      RankedTensorType::get({size}, Float32Type::get(context)));
}

// The joined extras and the epilogue that reads them.
Region &joinExtras(OpBuilder &builder, Projections &all, int64_t columns,
                   SmallVectorImpl<Value> &extras) {
  auto *biased = llvm::find_if(all, isBiased);
  bool simple = llvm::all_of(
      all, [](MatmulOp matmul) { return isPlain(matmul) || isBiased(matmul); });
  MatmulOp model = simple && biased != all.end() ? *biased : all[0];
  for (size_t i = 0; i < model.getExtras().size(); ++i) {
    if (llvm::all_of(all, [&](MatmulOp matmul) {
          return !matmul.getExtras().empty() &&
                 matmul.getExtras()[i] == model.getExtras()[i] &&
                 !isColumn(matmul, matmul.getExtras()[i]);
        })) {
      extras.push_back(model.getExtras()[i]);
      continue;
    }
    SmallVector<Attribute> parts;
    for (MatmulOp matmul : all)
      parts.push_back(matmul.getExtras().empty()
                          ? zeros(builder.getContext(), columnsOf(matmul))
                          : valueOf(matmul.getExtras()[i]));
    extras.push_back(makeWeight(builder, model.getLoc(), parts, {columns}));
  }
  return model.getEpilogue();
}

MatmulOp join(AttentionOp op, Projections &all) {
  MatmulOp last = *std::max_element(
      all.begin(), all.end(),
      [](MatmulOp a, MatmulOp b) { return a->isBeforeInBlock(b); });
  OpBuilder builder(last);
  int64_t columns = 0;
  SmallVector<int64_t> offsets;
  SmallVector<Attribute> weights;
  for (auto [matmul, offset] : llvm::zip(all, op.getOffsets())) {
    offsets.push_back(columns + offset);
    columns += columnsOf(matmul);
    weights.push_back(valueOf(matmul.getWeight()));
  }
  int64_t depth = cast<ShapedType>(last.getInput().getType()).getShape().back();
  SmallVector<Value> extras;
  Region &epilogue = joinExtras(builder, all, columns, extras);
  Value rows =
      last.getOut().getDefiningOp<tensor::EmptyOp>().getDynamicSizes()[0];
  Value joined = makeMatmul(
      builder, last.getLoc(), last.getInput(),
      makeWeight(builder, last.getLoc(), weights, {columns, depth}), Value(),
      extras, 1,
      makeDestination(builder, last.getLoc(), rows, columns),
      [&](OpBuilder &inner, Location, ValueRange arguments) {
        return inlineScalar(inner, epilogue, arguments);
      });
  op.getQueryMutable().assign(joined);
  op.getKeyMutable().assign(joined);
  op.getValueMutable().assign(joined);
  op.setOffsets(offsets);
  for (MatmulOp matmul : all)
    matmul.erase();
  return joined.getDefiningOp<MatmulOp>();
}

struct FuseQkv : mille::impl::FuseQkvBase<FuseQkv> {
  void runOnOperation() override {
    for (auto function : getOperation().getBody().getOps<func::FuncOp>())
      run(function);
  }

  void run(func::FuncOp function) {
    FusionReport report(function, boundary::qkv);
    function.walk([&](AttentionOp op) {
      Projections all{op.getQuery().getDefiningOp<MatmulOp>(),
                      op.getKey().getDefiningOp<MatmulOp>(),
                      op.getValue().getDefiningOp<MatmulOp>()};
      if (op.getQuery() == op.getKey() && op.getKey() == op.getValue())
        return; // done already
      if (std::string why = whyNotJoin(op, all); !why.empty()) {
        report.declinedByLaw(op, why);
        return;
      }
      int64_t bytes = 2 * rowBytes(all[0].getInput());
      report.fused(join(op, all), bytes, 2, "one matmul");
    });
    eraseDead(function);
  }
};

} // namespace

// The table of rewrites, in the order in which they run. Must not rewrite
// anything itself.
#include "compiler/rewrite/Passes.h"

using namespace mlir;
using namespace mille::rewrite;

template <typename Options, std::unique_ptr<Pass> (*create)(Options)>
static std::unique_ptr<Pass> make(const Wishes &wishes) {
  Options options;
  options.bitExact = wishes.bitExact;
  options.byCost = !wishes.names;
  return create(options);
}

static const Law table[] = {
    {"fold-schedules", "a(t) = a(steps) for t >= steps",
     "0 from the schedule's end on", 0,
     make<FoldSchedulesOptions, createFoldSchedules>, /*byWord=*/true},
    {"rotate-norms", "N2(A N1(x) + B F(N1(x))), read from the unit's other end",
     "0: the same operations in the same order", 0,
     make<RotateNormsOptions, createRotateNorms>},
    {"exchange-scales", "N_e(A x + B F) = N_{e/c^2}((A/c) x + (B/c) F)",
     "2 * 2^-24 of |A x| + |B F|", 2,
     make<ExchangeScalesOptions, createExchangeScales>},
    {"fold-branch-scales", "B (W h + b) = (B W) h + B b",
     "2^-24 of sum |B W| |h| + |B b|", 1,
     make<FoldBranchScalesOptions, createFoldBranchScales>},
    {"fold-linear-scales", "s (W h) = (s W) h", "2^-24 of sum |s W| |h|", 1,
     make<FoldLinearScalesOptions, createFoldLinearScales>},
    {"fold-norm-weights", "W (g n + c) + b = (W diag g) n + (W c + b)",
     "2 * 2^-24 of sum |W| (|g n| + |c|) + |b|", 2,
     make<FoldNormWeightsOptions, createFoldNormWeights>},
    {"fold-softmax-scale", "(s q) . k = s (q . k), s a power of two", "0", 0,
     make<FoldSoftmaxScaleOptions, createFoldSoftmaxScale>},
    {"find-dead-scales", "N_e(c x) = N_{e/c^2}(x)", "0: nothing is changed", 0,
     make<FindDeadScalesOptions, createFindDeadScales>},
};

llvm::ArrayRef<Law> mille::rewrite::laws() { return table; }

const Law *mille::rewrite::lawOf(StringRef name) {
  const Law *law =
      llvm::find_if(table, [&](const Law &law) { return law.name == name; });
  return law == std::end(table) ? nullptr : law;
}

void mille::rewrite::addRewritePipeline(OpPassManager &pipeline,
                                        const Wishes &wishes) {
  OpPassManager &model = pipeline.nest<transformer::ModelOp>();
  for (const Law &law : table)
    if (law.byWord
            ? wishes.foldSchedules
            : !wishes.names || llvm::is_contained(*wishes.names, law.name))
      model.addPass(law.create(wishes));
}

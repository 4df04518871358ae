// Splits a unit into at most three ops. The stacks are those that Read finds.
#include "compiler/analyze/KeepSums.h"
#include "compiler/analyze/Read.h"
#include "dialects/transformer/Transformer.h"
#include "mlir/IR/Builders.h"

using namespace mille;
using namespace mille::analyze;
using namespace mille::transformer;

std::string mille::analyze::nameOfSums(size_t stack) {
  return "analyze.sum." + std::to_string(stack);
}

std::string mille::analyze::nameOfResults(size_t stack) {
  return "analyze.out." + std::to_string(stack);
}

static void keepSum(ResidualOp unit, size_t stack, int64_t index) {
  mlir::OpBuilder op(unit);
  op.setInsertionPointAfter(unit);
  mlir::Location at = unit.getLoc();
  auto sum = llvm::cast<ResidualOp>(op.clone(*unit));
  sum.removeOutNormAttr();
  sum.removeStreamScaleAttr();
  mlir::Value value = sum.getResult();
  KeepOp::create(op, at, value, nameOfSums(stack), index);
  if (NormAttr norm = unit.getOutNormAttr())
    value = NormOp::create(op, at, value, norm);
  if (ScaleAttr scale = unit.getStreamScaleAttr())
    value = AffineOp::create(op, at, value, scale, ScaleAttr());
  KeepOp::create(op, at, value, nameOfResults(stack), index);
  unit.getResult().replaceAllUsesWith(value);
  unit.erase();
}

void mille::analyze::keepSums(mlir::Operation *model) {
  for (auto [stack, units] : llvm::enumerate(unitsByStack(model)))
    for (auto [index, unit] : llvm::enumerate(units))
      keepSum(unit, stack, index);
}

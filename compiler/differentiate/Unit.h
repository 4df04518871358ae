// The parts of a residual unit as values of a backward pass:
//   s N_out(A r + sum_i B_i N_branch,i(F_i(u_i))), u_i = N_in,i(x).
// Must not know a placement.
#pragma once
#include "dialects/transformer/Differentiable.h"
#include "mlir/IR/Builders.h"

namespace mille::differentiate {

// Whether a value is in the function's own block, which all other blocks see.
bool isOutermost(mlir::Value value);

// The value that is the same as `value`: the argument of a branch without a
// norm is the unit's input, and branches that share a norm have one argument.
mlir::Value sourceOf(mlir::Value value);

// The norm of a branch's input; null: none.
transformer::NormAttr inNormOf(transformer::ResidualOp unit,
                               mlir::Region *branch);
transformer::NormAttr branchNormOf(transformer::ResidualOp unit, size_t i);
transformer::ScaleAttr branchScaleOf(transformer::ResidualOp unit, size_t i);
// What branch i yields.
mlir::Value yieldOf(transformer::ResidualOp unit, size_t i);

// Whether a scale is a parameter.
bool isLearned(transformer::ScaleAttr scale);
// scale * value; the value where the scale is 1, null where it is 0.
mlir::Value scaled(mlir::OpBuilder &builder, transformer::ScaleAttr scale,
                   mlir::Value value);
// left + right, of which either may be null.
mlir::Value sum(mlir::OpBuilder &builder, mlir::Value left, mlir::Value right);
// The normed value; the value itself where there is no norm.
mlir::Value normed(mlir::OpBuilder &builder, transformer::NormAttr norm,
                   mlir::Value value);

// Whether the unit's adjoint reads the sum A r + ..., and the sum itself.
bool readsSum(transformer::ResidualOp unit);
mlir::Value sumOfTerms(mlir::OpBuilder &builder, transformer::ResidualOp unit,
                       transformer::Primal &primal);
// s N_out(sum)
mlir::Value afterSum(mlir::OpBuilder &builder, transformer::ResidualOp unit,
                     mlir::Value sum);

} // namespace mille::differentiate

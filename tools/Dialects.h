// The dialects that the text of a module may hold, for tools that read it. No
// passes.
#ifndef MILLE_TOOLS_DIALECTS_H
#define MILLE_TOOLS_DIALECTS_H

#include "dialects/kernel/Kernel.h"
#include "dialects/transformer/Transformer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mille {

inline void insertDialects(mlir::DialectRegistry &registry) {
  registry.insert<transformer::TransformerDialect, kernel::KernelDialect,
                  mlir::func::FuncDialect, mlir::arith::ArithDialect,
                  mlir::math::MathDialect, mlir::tensor::TensorDialect>();
}

} // namespace mille

#endif

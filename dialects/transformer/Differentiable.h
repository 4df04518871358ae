// What an op's adjoint may ask about the forward pass, and the interface of
// ops that have an adjoint. Must not know how values are saved.
#pragma once
#include "dialects/transformer/Transformer.h"

namespace mille::transformer {

// The forward pass as adjoints see it.
class Primal {
public:
  virtual ~Primal() = default;
  // A value of the forward pass, where the adjoint is built: as it is, saved,
  // or computed anew.
  virtual mlir::Value at(mlir::Value forward) = 0;
  // Whether a value depends on a parameter; others need no gradient.
  virtual bool isActive(mlir::Value forward) const = 0;
  // The adjoint of a branch of a residual unit: from the gradient of what it
  // yields to that of its argument (null: it has none).
  virtual mlir::FailureOr<mlir::Value> branch(mlir::Region &region,
                                              mlir::Value gradient) = 0;
  // The sum of a residual unit that its out_norm reads.
  virtual mlir::Value sumOf(ResidualOp unit) = 0;
};

} // namespace mille::transformer

#include "dialects/transformer/Differentiable.h.inc"

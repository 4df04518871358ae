// Base of nodes that only move numbers: one template for both kinds of number.
// Private to this folder.
#pragma once
#include "compiler/weights/Expression.h"

namespace mille {

template <typename Node> class Moves : public Expression {
public:
  void rows(int64_t first, int64_t count, double *into) const override {
    static_cast<const Node *>(this)->move(first, count, into);
  }
  void rows(int64_t first, int64_t count, float *into) const override {
    static_cast<const Node *>(this)->move(first, count, into);
  }
};

// The blocks that all of them are stored in.
std::optional<Encoding> encodingOf(llvm::ArrayRef<ExpressionPtr> values);

} // namespace mille

// The base of nodes that only move numbers: one template serves float and
// double. Must be included in this folder only.
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

// The encoding that all values have in common, if there is one.
std::optional<Encoding> encodingOf(llvm::ArrayRef<ExpressionPtr> values);

} // namespace mille

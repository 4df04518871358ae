// Rows of experts: which entry of a stack of weights they use.
// Must not know what is done with them.
#pragma once
#include "compiler/interpret/Run.h"

namespace mille::interpreter {

// The rows that use one entry of a stack of weights.
struct Span {
  int64_t entry, begin, end;
};

// A span for each entry, in order, by `starts`; without it one of all rows.
Status readSpans(Run &run, mlir::Operation *op, mlir::Value starts,
                 int64_t entries, int64_t rows,
                 llvm::SmallVectorImpl<Span> &spans);

} // namespace mille::interpreter

// How wide a weight's panels are: what generators' kernels read, and which of
// these widths a weight gets. Must not know a generator.
#pragma once
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace mille {

// Columns of a panel that kernels of a target read, the best for it first.
struct PanelWidths {
  std::vector<int64_t> ofOne, ofMore; // of one accumulator, of several

  llvm::ArrayRef<int64_t> of(int64_t accumulators) const {
    return accumulators > 1 ? ofMore : ofOne;
  }
};

// What both read, in the order of the first.
PanelWidths commonTo(const PanelWidths &first, const PanelWidths &second);

// The first of `widths` (never empty), unless the columns that it fills up a
// weight of `columns` columns with are more than one column in 32 above those
// of another.
int64_t panelWidth(int64_t columns, llvm::ArrayRef<int64_t> widths);

} // namespace mille

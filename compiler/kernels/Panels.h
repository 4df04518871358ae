// The widths of panels: those that generators' kernels read, and the choice for
// a weight. Must not know a generator.
#pragma once
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace mille {

// The widths, in columns, that the kernels of a target read, the best first.
struct PanelWidths {
  std::vector<int64_t> ofOne, ofMore; // for one accumulator, for several
  // Weights of f32, bf16 and bytes stay in rows, [accumulators * N, K], where K
  // is a multiple of rowUnit, and rows are of whole 16 bytes.
  bool inRows = false;
  static constexpr int64_t rowUnit = 8;

  llvm::ArrayRef<int64_t> of(int64_t accumulators) const {
    return accumulators > 1 ? ofMore : ofOne;
  }
};

// The widths that both read, in the order of the first.
PanelWidths commonTo(const PanelWidths &first, const PanelWidths &second);

// The first of `widths` (never empty), unless it pads a weight of `columns`
// columns with more padding than another width does, by more than one column in
// 32.
int64_t panelWidth(int64_t columns, llvm::ArrayRef<int64_t> widths);

} // namespace mille

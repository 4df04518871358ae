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
  // Weights of bf16 and f32 whose K is a multiple of rowUnit stay in rows,
  // [accumulators * N, K], those of experts of bf16 alone.
  bool inRows = false;
  static constexpr int64_t rowUnit = 8; // 16 bytes of bf16

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

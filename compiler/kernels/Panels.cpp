// Chooses the panels of a weight. Must choose the same for equal weights, since
// tied weights share their panels.
#include "compiler/kernels/Panels.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mille;

static std::vector<int64_t> commonTo(llvm::ArrayRef<int64_t> first,
                                     llvm::ArrayRef<int64_t> second) {
  std::vector<int64_t> both;
  llvm::copy_if(first, std::back_inserter(both), [&](int64_t width) {
    return llvm::is_contained(second, width);
  });
  return both;
}

PanelWidths mille::commonTo(const PanelWidths &first,
                            const PanelWidths &second) {
  return {::commonTo(first.ofOne, second.ofOne),
          ::commonTo(first.ofMore, second.ofMore),
          first.inRows && second.inRows};
}

int64_t mille::panelWidth(int64_t columns, llvm::ArrayRef<int64_t> widths) {
  auto filled = [&](int64_t width) {
    return int64_t(llvm::divideCeil(columns, width)) * width;
  };
  int64_t best = widths.front();
  for (int64_t width : widths)
    if (filled(best) - filled(width) > filled(width) / 32)
      best = width;
  return best;
}

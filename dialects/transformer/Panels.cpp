// Computes the shapes of weights in panels.
#include "dialects/transformer/Panels.h"
#include "llvm/Support/MathExtras.h"

using namespace mille;

llvm::SmallVector<int64_t>
Panels::shapeOf(llvm::ArrayRef<int64_t> weight) const {
  const int64_t outputs = weight.end()[-2] / accumulators;
  llvm::SmallVector<int64_t> shape(weight.drop_back(2));
  shape.append({int64_t(llvm::divideCeil(outputs, columns())),
                int64_t(llvm::divideCeil(weight.back(), group)),
                width * group});
  return shape;
}

llvm::SmallVector<int64_t>
BlockPanels::shapeOf(llvm::ArrayRef<int64_t> weight) const {
  const int64_t outputs = weight.end()[-2] / accumulators;
  llvm::SmallVector<int64_t> shape(weight.drop_back(2));
  shape.append({int64_t(llvm::divideCeil(outputs, columns)),
                weight.back() / blockLength(encoding),
                blockFormOf(encoding).bytes(accumulators)});
  return shape;
}

// The columns of kernel.updates.
// Must not look at what a loop computes.
#include "dialects/kernel/Updates.h"

using namespace mlir;

llvm::ArrayRef<Attribute> mille::kernel::updatedColumns(LayersOp layers) {
  auto columns = layers->getAttrOfType<ArrayAttr>(updatesName);
  return columns ? columns.getValue() : ArrayRef<Attribute>();
}

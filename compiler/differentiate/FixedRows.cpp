// Reads which rows of a parameter no step changes.
// Must read a column of layers at one layer: the layers of a body agree.
#include "compiler/differentiate/FixedRows.h"

using namespace mlir;
using namespace mille::transformer;

DenseI64ArrayAttr mille::differentiate::fixedRowsOf(Operation *user,
                                                    Attribute parameter) {
  auto symbol = cast<FlatSymbolRefAttr>(parameter);
  if (auto layers = user->getParentOfType<LayersOp>()) {
    Region *body = user->getParentRegion();
    while (body->getParentOp() != layers)
      body = body->getParentOp()->getParentRegion();
    const size_t layer = layers.layersOf(body->getRegionNumber()).front();
    symbol = dyn_cast<FlatSymbolRefAttr>(layers.entryOf(layer, symbol));
  }
  auto model = user->getParentOfType<ModelOp>();
  auto found = symbol ? dyn_cast_or_null<ParameterOp>(
                            SymbolTable::lookupSymbolIn(model, symbol))
                      : ParameterOp();
  return found ? found.getFixedRowsAttr() : DenseI64ArrayAttr();
}

bool mille::differentiate::isFixed(Operation *user, Attribute parameter) {
  DenseI64ArrayAttr rows = fixedRowsOf(user, parameter);
  return rows && rows[0] == rows[2];
}

// Reads which rows of a parameter no step changes.
// Must read a column of layers at one layer: the layers of a body agree.
#include "compiler/differentiate/FixedRows.h"
#include "dialects/transformer/FixedParameter.h"

using namespace mlir;
using namespace mille::transformer;

// The parameter that `user` names; null: its column has none.
static ParameterOp parameterOf(Operation *user, Attribute parameter) {
  auto symbol = cast<FlatSymbolRefAttr>(parameter);
  if (auto layers = user->getParentOfType<LayersOp>()) {
    Region *body = user->getParentRegion();
    while (body->getParentOp() != layers)
      body = body->getParentOp()->getParentRegion();
    const size_t layer = layers.layersOf(body->getRegionNumber()).front();
    symbol = dyn_cast<FlatSymbolRefAttr>(layers.entryOf(layer, symbol));
  }
  auto model = user->getParentOfType<ModelOp>();
  return symbol ? dyn_cast_or_null<ParameterOp>(
                      SymbolTable::lookupSymbolIn(model, symbol))
                : ParameterOp();
}

DenseI64ArrayAttr mille::differentiate::fixedRowsOf(Operation *user,
                                                    Attribute parameter) {
  ParameterOp found = parameterOf(user, parameter);
  return found ? found.getFixedRowsAttr() : DenseI64ArrayAttr();
}

bool mille::differentiate::isFixed(Operation *user, Attribute parameter) {
  ParameterOp found = parameterOf(user, parameter);
  return found && transformer::isFixed(found);
}

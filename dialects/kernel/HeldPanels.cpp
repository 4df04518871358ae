// Reads the attributes of states in panels.
// Must not follow a state to what reads it.
#include "dialects/kernel/HeldPanels.h"
#include "dialects/kernel/Signature.h"

using namespace mlir;

namespace mille::kernel {

HeldPanels heldPanels(Operation *model, StringRef state) {
  for (func::FuncOp entry : entriesOf(model))
    for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
      auto name = entry.getArgAttrOfType<StringAttr>(i, "transformer.name");
      auto heads = entry.getArgAttrOfType<IntegerAttr>(i, panelHeadsName);
      auto panels = entry.getArgAttrOfType<StatePanelsAttr>(i, panelsName);
      if (!name || name.getValue() != state || !heads || !panels)
        continue;
      auto windows = entry.getArgAttrOfType<DenseI64ArrayAttr>(i, windowsName);
      return {heads.getInt(), panels.getValue() == StatePanels::keys,
              windows ? windows.asArrayRef() : ArrayRef<int64_t>()};
    }
  return {};
}

} // namespace mille::kernel

// Reads the attributes of states with windows.
// Must not follow a state to what reads it.
#include "dialects/kernel/StateWindows.h"
#include "dialects/kernel/Signature.h"

using namespace mlir;

namespace mille::kernel {

WindowsOfState windowsOf(Operation *model, StringRef state) {
  for (func::FuncOp entry : entriesOf(model))
    for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
      auto name = entry.getArgAttrOfType<StringAttr>(i, "transformer.name");
      auto windows = entry.getArgAttrOfType<DenseI64ArrayAttr>(i, windowsName);
      auto heads = entry.getArgAttrOfType<IntegerAttr>(i, windowHeadsName);
      auto panels =
          entry.getArgAttrOfType<StatePanelsAttr>(i, windowPanelsName);
      if (name && name.getValue() == state && windows && heads && panels)
        return {windows.asArrayRef(), heads.getInt(),
                panels.getValue() == StatePanels::keys};
    }
  return {};
}

} // namespace mille::kernel

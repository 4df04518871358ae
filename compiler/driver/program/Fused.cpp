// Reads the fusion report, which is the func attribute kernel.fusions.
// Must not decide what to fuse.
#include "compiler/driver/program/Fused.h"

#include "dialects/kernel/Signature.h"
#include "mlir/IR/Diagnostics.h"

using namespace mille;
using llvm::StringRef;

static StringRef textOf(mlir::DictionaryAttr entry, StringRef key) {
  auto text = entry.getAs<mlir::StringAttr>(key);
  return text ? text.getValue() : StringRef();
}

// Checks one entry.
static Status requireFusedIn(mlir::func::FuncOp entry,
                             const std::vector<std::string> &boundaries) {
  auto fusions = entry->getAttrOfType<mlir::ArrayAttr>("kernel.fusions");
  Status outcome = Status::done;
  if (!fusions)
    return outcome;
  for (auto fusion : fusions.getAsRange<mlir::DictionaryAttr>()) {
    StringRef boundary = textOf(fusion, "boundary");
    if (textOf(fusion, "status") == "fused" ||
        !llvm::is_contained(boundaries, boundary))
      continue;
    StringRef layers = textOf(fusion, "layers");
    auto error = mlir::emitError(entry.getLoc())
                 << "boundary " << boundary << " of unit "
                 << textOf(fusion, "unit")
                 << (layers.empty() ? "" : ", layers ") << layers << " is "
                 << textOf(fusion, "status") << " but --require-fused names it";
    error.attachNote() << textOf(fusion, "reason");
    outcome = Status::input;
  }
  return outcome;
}

Status mille::requireFused(mlir::Operation *model,
                           const std::vector<std::string> &boundaries) {
  Status outcome = Status::done;
  for (mlir::func::FuncOp entry : kernel::entriesOf(model))
    if (Status status = requireFusedIn(entry, boundaries); failed(status))
      outcome = status;
  return outcome;
}

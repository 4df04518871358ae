// What fuse says it did: the func attribute kernel.fusions, read.
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

Status mille::requireFused(mlir::Operation *model,
                           const std::vector<std::string> &boundaries) {
  mlir::func::FuncOp forward = kernel::forwardOf(model);
  auto fusions = forward->getAttrOfType<mlir::ArrayAttr>("kernel.fusions");
  Status outcome = Status::done;
  if (!fusions)
    return outcome;
  for (auto entry : fusions.getAsRange<mlir::DictionaryAttr>()) {
    StringRef boundary = textOf(entry, "boundary");
    if (textOf(entry, "status") == "fused" ||
        !llvm::is_contained(boundaries, boundary))
      continue;
    StringRef layers = textOf(entry, "layers");
    auto error = mlir::emitError(forward.getLoc())
                 << "boundary " << boundary << " of unit "
                 << textOf(entry, "unit") << (layers.empty() ? "" : ", layers ")
                 << layers << " is " << textOf(entry, "status")
                 << " but --require-fused names it";
    error.attachNote() << textOf(entry, "reason");
    outcome = Status::input;
  }
  return outcome;
}

// Writes a page for a browser to a file, whole or not at all.
#include "compiler/driver/commands/PageFile.h"

#include "compiler/weights/WholeFile.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

using namespace mille;
using llvm::StringRef;

Status mille::writePageFile(PageKind kind, StringRef path, StringRef title,
                            StringRef json, mlir::MLIRContext &context) {
  std::string page;
  llvm::raw_string_ostream text(page);
  writePage(kind, title, json, text);
  WholeFile file(path.str());
  file.write(StringRef(page));
  if (file.commit())
    return Status::done;
  mlir::emitError(mlir::FileLineColLoc::get(&context, path, 0, 0))
      << file.problem();
  return Status::machine;
}

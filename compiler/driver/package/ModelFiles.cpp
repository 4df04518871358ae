// Hashes the contents of all files that a model was read from.
// Must not know their formats.
#include "compiler/driver/package/ModelFiles.h"

#include "compiler/driver/package/FileHashes.h"
#include "dialects/transformer/Transformer.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace mille;
using llvm::StringRef;

std::string mille::hashModel(StringRef path, StringRef folder,
                             mlir::Operation *model) {
  std::set<std::string> stored; // sorted: the order must not matter
  mlir::AttrTypeWalker walker;
  walker.addWalk([&](transformer::StoredAttr attribute) {
    stored.insert(attribute.getFile().str());
  });
  model->walk([&](transformer::ParameterOp parameter) {
    walker.walk(parameter.getValue());
  });
  std::string description = path.str();
  if (llvm::sys::fs::is_directory(path))
    description += "/config.json";
  std::string text = "description " + byteHashOfFile(description) + "\n";
  for (const std::string &file : stored) {
    llvm::SmallString<256> full(folder);
    if (llvm::sys::path::is_absolute(file))
      full = file;
    else
      llvm::sys::path::append(full, file);
    text += file + " " + byteHashOfFile(full) + "\n";
  }
  return hashOfText(text);
}

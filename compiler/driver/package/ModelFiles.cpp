// Hashes the contents of all files that a model was read from.
// Must not know their formats.
#include "compiler/driver/package/ModelFiles.h"

#include "dialects/transformer/Transformer.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include <set>

using namespace mille;
using llvm::StringRef;

static std::string hex(uint64_t number) {
  std::string digits = llvm::utohexstr(number, /*LowerCase=*/true);
  return std::string(16 - digits.size(), '0') + digits;
}

static std::string hashOfFile(const llvm::Twine &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return "absent";
  return hex(llvm::xxh3_64bits((*buffer)->getBuffer()));
}

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
  std::string text = "description " + hashOfFile(description) + "\n";
  for (const std::string &file : stored) {
    llvm::SmallString<256> full(folder);
    if (llvm::sys::path::is_absolute(file))
      full = file;
    else
      llvm::sys::path::append(full, file);
    text += file + " " + hashOfFile(full) + "\n";
  }
  return hex(llvm::xxh3_64bits(text));
}

std::string mille::hashOfBytes(StringRef path, StringRef text) {
  std::string all = text.str();
  if (!llvm::sys::fs::is_directory(path))
    return hex(llvm::xxh3_64bits(all + "\n" + hashOfFile(path)));
  std::set<std::string> files; // sorted: the order must not matter
  std::error_code error;
  for (llvm::sys::fs::directory_iterator at(path, error), end;
       at != end && !error; at.increment(error))
    if (!llvm::sys::fs::is_directory(at->path()))
      files.insert(at->path());
  for (const std::string &file : files)
    all +=
        "\n" + llvm::sys::path::filename(file).str() + " " + hashOfFile(file);
  return hex(llvm::xxh3_64bits(all));
}

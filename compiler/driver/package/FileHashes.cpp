// Hashes the bytes of files.
// Must not know their formats.
#include "compiler/driver/package/FileHashes.h"

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

std::string mille::byteHashOfFile(const llvm::Twine &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return "absent";
  return hex(llvm::xxh3_64bits((*buffer)->getBuffer()));
}

std::string mille::hashOfText(StringRef text) {
  return hex(llvm::xxh3_64bits(text));
}

std::string mille::hashOfBytes(StringRef path, StringRef text) {
  std::string all = text.str();
  if (!llvm::sys::fs::is_directory(path))
    return hashOfText(all + "\n" + byteHashOfFile(path));
  std::set<std::string> files; // sorted: the order must not matter
  std::error_code error;
  for (llvm::sys::fs::directory_iterator at(path, error), end;
       at != end && !error; at.increment(error))
    if (!llvm::sys::fs::is_directory(at->path()))
      files.insert(at->path());
  for (const std::string &file : files)
    all += "\n" + llvm::sys::path::filename(file).str() + " " +
           byteHashOfFile(file);
  return hashOfText(all);
}

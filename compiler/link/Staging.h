// The files of a package, made beside their places and moved there at the end.
// What is not committed vanishes, and so do folders that were made for it.
#pragma once
#include "compiler/weights/Leftover.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <list>
#include <string>
#include <vector>

namespace mille::link {

class Staging {
public:
  // Makes `folder` if need be and a hidden folder for `name` in it.
  Staging(llvm::StringRef folder, llvm::StringRef name);
  ~Staging();
  Staging(const Staging &) = delete;

  // Where to write the file that is going to be `folder`/`file`.
  std::string path(llvm::StringRef file) const;
  // A file of ours in there that does not become part of the package.
  std::string scratch(llvm::StringRef file) const;
  // Writes a whole file of the package.
  bool write(llvm::StringRef file, llvm::StringRef bytes);
  // Makes sure that `bytes` more can be written: what is written through mapped
  // memory, as lld does, ends the process where the disk is full.
  bool reserve(llvm::StringRef file, uint64_t bytes);
  // Moves `files` to their places, all of them or none: where one cannot be
  // moved, those that were there before are put back.
  bool commit(llvm::ArrayRef<std::string> files);

  // "cannot write PATH: No space left on device"; empty while all is well.
  const std::string &problem() const { return why; }
  bool fail(llvm::StringRef path, int error);

private:
  bool setAside(const std::string &file);
  void giveBack(const std::string &file);

  std::string folder, hidden, why;
  std::vector<std::string> made; // folders, outermost first
  std::list<Leftover> leftovers; // all of these, if the process ends first
};

} // namespace mille::link

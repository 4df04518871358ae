// Makes the files of a package in a hidden folder and moves them to their
// places at the end. Must remove files that are not committed, and folders made
// for them.
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
  // Makes a hidden folder for the package `name` in `folder`. It lies beside
  // `folder` if that is missing or holds nothing else, so that one rename
  // commits it; else inside `folder`. Removes hidden folders of killed
  // processes.
  Staging(llvm::StringRef folder, llvm::StringRef name);
  ~Staging();
  Staging(const Staging &) = delete;

  // The path at which to write the file that becomes `folder`/`file`.
  std::string path(llvm::StringRef file) const;
  // The path of a scratch file, which does not become part of the package.
  std::string scratch(llvm::StringRef file) const;
  // Writes a whole file of the package.
  bool write(llvm::StringRef file, llvm::StringRef bytes);
  // Checks that the disk has room for `bytes` more. Needed before writes
  // through mapped memory (lld), which end the process if the disk is full.
  bool reserve(llvm::StringRef file, uint64_t bytes);
  // Flushes `files` and moves them to their places, all or none. The last one
  // makes the folder a package. `gone`: files that an earlier package of this
  // name may have but this one has not.
  bool commit(llvm::ArrayRef<std::string> files,
              llvm::ArrayRef<std::string> gone = {});

  // The first error, such as "cannot write PATH: No space left on device", or
  // empty.
  const std::string &problem() const { return why; }
  bool fail(llvm::StringRef path, int error);

private:
  bool makeParents();
  bool isAlone() const;
  bool makeHidden(const std::string &stem);
  bool synchronise(llvm::ArrayRef<std::string> files);
  bool exchange(llvm::ArrayRef<std::string> files);
  bool moveEach(llvm::ArrayRef<std::string> files,
                llvm::ArrayRef<std::string> gone);
  bool setAside(const std::string &file);
  void giveBack(const std::string &file);

  std::string folder, name, why;
  std::string place;  // the path of the folder, without links
  std::string hidden; // the hidden folder, locked while this object lives
  bool beside = false, exists = false;
  int lock = -1;
  std::vector<std::string> made; // folders, outermost first
  std::list<Leftover> leftovers; // removed if the process ends first
};

} // namespace mille::link

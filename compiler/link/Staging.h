// The files of a package, made in a hidden folder and moved to their places
// at the end. What is not committed vanishes, and so do folders made for it.
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
  // Makes a hidden folder for the package `name` of `folder`: beside `folder`,
  // where that is missing or holds nothing else, so that one rename commits it;
  // else in it. What killed processes left there is removed.
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
  // Brings `files` to the disk and to their places, all of them or none. The
  // last one is what makes the folder a package. `gone` are files that an
  // earlier package of this name may have and this one has not.
  bool commit(llvm::ArrayRef<std::string> files,
              llvm::ArrayRef<std::string> gone = {});

  // "cannot write PATH: No space left on device"; empty while all is well.
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
  std::string place;  // of the folder, without links
  std::string hidden; // made, and locked while this lives
  bool beside = false, exists = false;
  int lock = -1;
  std::vector<std::string> made; // folders, outermost first
  std::list<Leftover> leftovers; // all of these, if the process ends first
};

} // namespace mille::link

// Writes a file whole or not at all: to a temporary file beside it, which it
// renames. Must turn errors of the machine (no space, no permission) into one
// sentence.
#pragma once
#include "compiler/Status.h"
#include "compiler/weights/Leftover.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>

namespace mille {

class WholeFile {
public:
  // Creates the temporary file. `mode` as for open(2), before umask.
  explicit WholeFile(llvm::StringRef path, unsigned mode = 0666);
  ~WholeFile(); // removes the temporary file unless committed
  WholeFile(const WholeFile &) = delete;

  // After a failure, further calls do nothing.
  void write(llvm::StringRef bytes);
  void write(llvm::ArrayRef<char> bytes) {
    write(llvm::StringRef(bytes.data(), bytes.size()));
  }
  // Flushes to the disk and gives the file its name. False if there is no file;
  // `problem` then has the reason ("cannot write PATH: No space left on
  // device").
  bool commit();
  const std::string &problem() const { return why; }

private:
  void fail(int error);
  std::string path, temporary, why;
  int file = -1;
  std::unique_ptr<Leftover> leftover; // of the temporary file
};

} // namespace mille

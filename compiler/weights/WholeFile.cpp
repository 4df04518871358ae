// Writes with POSIX calls, so that each failure can be named. Must leave no
// file behind after a failure.
#include "compiler/weights/WholeFile.h"
#include "llvm/Support/FileSystem.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace mille;

WholeFile::WholeFile(llvm::StringRef path, unsigned mode) : path(path.str()) {
  llvm::SmallString<128> made;
  std::error_code error = llvm::sys::fs::createUniqueFile(
      path + ".%%%%%%.tmp", file, made, llvm::sys::fs::OF_None, mode);
  if (error) {
    file = -1;
    fail(error.value());
    return;
  }
  temporary = std::string(made);
  leftover = std::make_unique<Leftover>(temporary);
}

WholeFile::~WholeFile() {
  if (file >= 0)
    ::close(file);
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}

void WholeFile::fail(int error) {
  if (why.empty())
    why = "cannot write " + path + ": " + std::strerror(error);
}

void WholeFile::write(llvm::StringRef bytes) {
  while (!bytes.empty() && why.empty()) {
    // Linux writes at most 2 GiB at once.
    ssize_t written =
        ::write(file, bytes.data(), std::min<size_t>(bytes.size(), 1u << 30));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return fail(errno);
    bytes = bytes.drop_front(written);
  }
}

bool WholeFile::commit() {
  if (!why.empty())
    return false;
  if (::fsync(file) && errno != EINVAL && errno != EROFS) {
    fail(errno);
    return false;
  }
  int closed = ::close(file);
  file = -1;
  if (closed || ::rename(temporary.c_str(), path.c_str())) {
    fail(errno);
    return false;
  }
  temporary.clear();
  leftover.reset();
  return true;
}

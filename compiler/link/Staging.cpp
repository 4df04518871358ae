// A hidden folder in the same file system, so that a move is a rename.
// Must leave nothing behind when the package is not whole.
#include "compiler/link/Staging.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace mille::link {

Staging::Staging(StringRef folder, StringRef name)
    : folder(folder.empty() ? "." : folder.str()) {
  auto held = holdEnd();
  // Folders that are missing, outermost first.
  std::vector<std::string> missing;
  for (StringRef path = this->folder; !path.empty() && !sys::fs::exists(path);
       path = sys::path::parent_path(path))
    missing.insert(missing.begin(), path.str());
  for (const std::string &path : missing) {
    if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
      why = "cannot make the folder " + path + ": " + std::strerror(errno);
      return;
    }
    made.push_back(path);
    leftovers.emplace_back(path, /*onlyEmpty=*/true);
  }
  std::string pattern = this->folder + "/." + name.str() + ".XXXXXX";
  if (!::mkdtemp(pattern.data())) {
    why = "cannot write in the folder " + this->folder + ": " +
          std::strerror(errno);
    return;
  }
  hidden = pattern;
  leftovers.emplace_back(hidden);
}

Staging::~Staging() {
  if (!hidden.empty())
    sys::fs::remove_directories(hidden);
  while (!made.empty()) { // those that stayed empty
    ::rmdir(made.back().c_str());
    made.pop_back();
  }
}

std::string Staging::path(StringRef file) const {
  return hidden + "/" + file.str();
}

std::string Staging::scratch(StringRef file) const {
  return hidden + "/." + file.str();
}

bool Staging::fail(StringRef path, int error) {
  auto held = holdEnd(); // where the process is ending, that is why
  StringRef file = sys::path::filename(path);
  if (why.empty()) // scratch files mean nothing to the user
    why =
        (file.starts_with(".") ? "cannot write in the folder " + folder
                               : "cannot write " + folder + "/" + file.str()) +
        ": " + std::strerror(error);
  return false;
}

bool Staging::write(StringRef file, StringRef bytes) {
  int handle = ::open(path(file).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (handle < 0)
    return fail(file, errno);
  bool good = true;
  while (good && !bytes.empty()) {
    ssize_t count = ::write(handle, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    good = count >= 0 || fail(file, errno);
    bytes = bytes.drop_front(std::max<ssize_t>(count, 0));
  }
  if (::close(handle) != 0 && good)
    good = fail(file, errno);
  return good;
}

bool Staging::reserve(StringRef file, uint64_t bytes) {
  std::string room = scratch("room");
  int handle = ::open(room.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (handle < 0)
    return fail(file, errno);
  int error = ::posix_fallocate(handle, 0, bytes);
  ::close(handle);
  ::unlink(room.c_str());
  return error == 0 || fail(file, error);
}

// Keeps what is at the file's place, if anything, where `giveBack` finds it.
bool Staging::setAside(const std::string &file) {
  std::string place = folder + "/" + file, aside = scratch("old." + file);
  // A second name: at its place the file is never missing. Not every file
  // system has them.
  if (::link(place.c_str(), aside.c_str()) == 0 || errno == ENOENT)
    return true;
  if (sys::fs::is_directory(place))
    return fail(file, EISDIR);
  return ::rename(place.c_str(), aside.c_str()) == 0 || errno == ENOENT ||
         fail(file, errno);
}

// What was there before, or nothing.
void Staging::giveBack(const std::string &file) {
  std::string place = folder + "/" + file;
  if (::rename(scratch("old." + file).c_str(), place.c_str()) != 0 &&
      errno == ENOENT)
    ::unlink(place.c_str());
}

bool Staging::commit(ArrayRef<std::string> files) {
  if (!why.empty())
    return false;
  auto held = holdEnd(); // all or nothing
  size_t moved = 0;
  for (; moved < files.size(); ++moved) {
    const std::string &file = files[moved];
    if (!setAside(file))
      break;
    if (::rename(path(file).c_str(), (folder + "/" + file).c_str()) != 0) {
      fail(file, errno);
      ::rename(scratch("old." + file).c_str(), (folder + "/" + file).c_str());
      break;
    }
  }
  if (moved == files.size())
    return true;
  while (moved > 0)
    giveBack(files[--moved]);
  return false;
}

} // namespace mille::link

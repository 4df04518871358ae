// Makes the package in a hidden folder of the same file system, so that a move
// is a rename. Must leave nothing if the package is not complete, and at no
// time files of two packages.
#include "compiler/link/Staging.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace mille::link {

// The path without links; empty if nothing is there.
static std::string withoutLinks(const std::string &path) {
  char *found = ::realpath(path.c_str(), nullptr);
  std::string result = found ? found : "";
  std::free(found);
  return result;
}

static std::string parentOf(const std::string &path) {
  StringRef parent = sys::path::parent_path(path);
  return parent.empty() ? "." : parent.str();
}

// Removes folders in `where` whose names begin with `stem` and that no process
// has locked.
static void removeAbandoned(const std::string &where, StringRef stem) {
  std::error_code error;
  std::vector<std::string> found;
  for (sys::fs::directory_iterator at(where, error), end; at != end && !error;
       at.increment(error))
    if (sys::path::filename(at->path()).starts_with(stem))
      found.push_back(at->path());
  for (const std::string &path : found) {
    int handle =
        ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (handle < 0)
      continue;
    if (::flock(handle, LOCK_EX | LOCK_NB) == 0)
      sys::fs::remove_directories(path);
    ::close(handle);
  }
}

Staging::Staging(StringRef given, StringRef name)
    : folder(given.empty() ? "." : given.str()), name(name.str()) {
  while (folder.size() > 1 && folder.back() == '/')
    folder.pop_back();
  auto held = holdEnd();
  place = withoutLinks(folder);
  exists = !place.empty();
  if (!exists && !makeParents())
    return;
  const std::string inside = "." + this->name + ".mille-";
  std::string parent = parentOf(place);
  std::string outside =
      "." + sys::path::filename(place).str() + "." + this->name + ".mille-";
  if (exists)
    removeAbandoned(place, inside);
  removeAbandoned(parent, outside);
  beside = !exists || isAlone();
  if (beside && makeHidden(parent + "/" + outside))
    return;
  if (exists && makeHidden(place + "/" + inside)) {
    beside = false;
    return;
  }
  why = (exists ? "cannot write in the folder " : "cannot make the folder ") +
        folder + ": " + std::strerror(errno);
}

// Makes the missing folders above, outermost first. The folder itself comes
// with the commit.
bool Staging::makeParents() {
  std::vector<std::string> missing;
  for (StringRef path = sys::path::parent_path(folder);
       !path.empty() && !sys::fs::exists(path);
       path = sys::path::parent_path(path))
    missing.insert(missing.begin(), path.str());
  for (const std::string &path : missing) {
    if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
      why = "cannot make the folder " + path + ": " + std::strerror(errno);
      return false;
    }
    made.push_back(path);
    leftovers.emplace_back(path, /*onlyEmpty=*/true);
  }
  std::string parent = withoutLinks(parentOf(folder));
  if (parent.empty()) {
    why = "cannot make the folder " + folder + ": " + std::strerror(errno);
    return false;
  }
  place = parent + "/" + sys::path::filename(folder).str();
  return true;
}

// Whether the folder may be replaced by another one: it holds only a package of
// this name, it is not the working folder of this process or a mount, and this
// process may write in it.
bool Staging::isAlone() const {
  struct stat mine, above, here;
  if (::stat(place.c_str(), &mine) != 0 || !S_ISDIR(mine.st_mode) ||
      ::stat(parentOf(place).c_str(), &above) != 0 || ::stat(".", &here) != 0 ||
      mine.st_dev != above.st_dev ||
      (mine.st_dev == here.st_dev && mine.st_ino == here.st_ino) ||
      ::access(place.c_str(), W_OK | X_OK) != 0)
    return false;
  std::error_code error;
  for (sys::fs::directory_iterator at(place, error, /*follow=*/false), end;
       at != end && !error; at.increment(error)) {
    StringRef suffix = sys::path::filename(at->path());
    if (!suffix.consume_front(name) ||
        at->type() != sys::fs::file_type::regular_file ||
        !StringSwitch<bool>(suffix)
             .Cases(
                 {".weights", ".so", ".a", ".h", ".mlir", ".json", ".tokens"},
                 true)
             .Default(false))
      return false;
  }
  return !error;
}

// Makes and locks a folder. Returns errno on failure.
bool Staging::makeHidden(const std::string &stem) {
  for (unsigned number = 0; number < 1000; ++number) {
    std::string path =
        stem + std::to_string(::getpid()) + "-" + std::to_string(number);
    if (::mkdir(path.c_str(), 0777) != 0) {
      if (errno == EEXIST)
        continue;
      return false;
    }
    lock = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool taken = lock >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) != 0 &&
                 errno == EWOULDBLOCK;
    if (!taken && sys::fs::exists(path)) {
      hidden = path;
      leftovers.emplace_back(hidden);
      return true;
    }
    // Another process has just removed it as an abandoned folder.
    if (lock >= 0)
      ::close(lock);
    lock = -1;
  }
  errno = EEXIST;
  return false;
}

Staging::~Staging() {
  if (!hidden.empty())
    sys::fs::remove_directories(hidden);
  if (lock >= 0)
    ::close(lock);
  while (!made.empty()) { // remove folders that are still empty
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
  auto held = holdEnd(); // does not return if the process is ending
  StringRef file = sys::path::filename(path);
  if (why.empty()) // the user does not know scratch files
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

// Saves the existing file, if there is one, so that `giveBack` can restore it.
bool Staging::setAside(const std::string &file) {
  std::string at = place + "/" + file, aside = scratch("old." + file);
  // A hard link keeps the file at its place too. Some file systems lack them.
  if (::link(at.c_str(), aside.c_str()) == 0 || errno == ENOENT)
    return true;
  if (sys::fs::is_directory(at))
    return fail(file, EISDIR);
  return ::rename(at.c_str(), aside.c_str()) == 0 || errno == ENOENT ||
         fail(file, errno);
}

// Restores the earlier file, or removes the new one if there was none.
void Staging::giveBack(const std::string &file) {
  std::string at = place + "/" + file;
  if (::rename(scratch("old." + file).c_str(), at.c_str()) != 0 &&
      errno == ENOENT)
    ::unlink(at.c_str());
}

// Flushes one file or folder to the disk.
static int synchronised(const std::string &path) {
  int handle = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (handle < 0)
    return errno;
  // Some file systems cannot flush folders.
  int error = ::fsync(handle) == 0 || errno == EINVAL ? 0 : errno;
  ::close(handle);
  return error;
}

// The contents of files must reach the disk before their names.
bool Staging::synchronise(ArrayRef<std::string> files) {
  for (const std::string &file : files)
    if (int error = synchronised(path(file)))
      return fail(file, error);
  int error = synchronised(hidden);
  return error == 0 || fail(".", error);
}

// Exchanges the hidden folder and the folder in one step. False, without a
// change, if the file system cannot do that.
bool Staging::exchange(ArrayRef<std::string> files) {
  std::error_code error;
  std::vector<std::string> others;
  for (sys::fs::directory_iterator at(hidden, error), end; at != end && !error;
       at.increment(error))
    if (!is_contained(files, sys::path::filename(at->path())))
      others.push_back(at->path());
  for (const std::string &path : others)
    ::unlink(path.c_str());
  if (!exists)
    return ::rename(hidden.c_str(), place.c_str()) == 0;
  struct stat before;
  return ::stat(place.c_str(), &before) == 0 &&
         ::chmod(hidden.c_str(), before.st_mode & 07777) == 0 &&
         ::renameat2(AT_FDCWD, hidden.c_str(), AT_FDCWD, place.c_str(),
                     RENAME_EXCHANGE) == 0;
}

// Moves the files one after the other into a folder that has other files. The
// last file of the old package goes first and that of the new one comes last,
// so the folder is not a package while files of both are in it.
bool Staging::moveEach(ArrayRef<std::string> files,
                       ArrayRef<std::string> gone) {
  if (!setAside(files.back()))
    return false;
  ::unlink((place + "/" + files.back()).c_str());
  size_t removed = 0;
  while (removed < gone.size() && setAside(gone[removed]))
    ::unlink((place + "/" + gone[removed++]).c_str());
  size_t moved = 0;
  for (; removed == gone.size() && moved < files.size(); ++moved) {
    const std::string &file = files[moved];
    if (moved + 1 < files.size() && !setAside(file))
      break;
    if (::rename(path(file).c_str(), (place + "/" + file).c_str()) != 0) {
      fail(file, errno);
      giveBack(file);
      break;
    }
  }
  if (moved == files.size())
    return true;
  while (moved > 0)
    giveBack(files[--moved]);
  while (removed > 0)
    giveBack(gone[--removed]);
  giveBack(files.back());
  return false;
}

bool Staging::commit(ArrayRef<std::string> files, ArrayRef<std::string> gone) {
  if (!why.empty() || !synchronise(files))
    return false;
  auto held = holdEnd(); // an interrupt must not stop it half-way
  bool whole = beside && (!exists || isAlone()) && exchange(files);
  if (!whole && !exists) {
    if (::mkdir(place.c_str(), 0777) != 0 && errno != EEXIST)
      return fail(".", errno);
    made.push_back(place);
  }
  if (!whole && !moveEach(files, gone))
    return false;
  synchronised(whole ? parentOf(place) : place);
  return true;
}

} // namespace mille::link

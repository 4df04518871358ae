// Removes files and folders if the process is interrupted or crashes. Must not
// be used for finished files.
#pragma once
#include <mutex>
#include <string>

namespace mille {

// While such an object lives, the end of the process removes `path`: a file, or
// a folder with its contents. With `onlyEmpty` it removes an empty folder only.
class Leftover {
public:
  explicit Leftover(std::string path, bool onlyEmpty = false);
  ~Leftover();
  Leftover(const Leftover &) = delete;

private:
  int number;
};

// Delays interrupts while the lock is held, so that making a file and its
// Leftover, or several renames, are not interrupted. Does not return if the
// process is ending.
std::unique_lock<std::recursive_mutex> holdEnd();

// Removes all leftovers, the newest first. Afterwards no Leftover can be made
// or destroyed. The code that ends the process (compiler/driver) calls it, from
// any thread.
void removeLeftovers();

} // namespace mille

// Files and folders that must not outlive the process: removed when it is
// interrupted or crashes. Must not be used for what is finished.
#pragma once
#include <mutex>
#include <string>

namespace mille {

// While it lives, an end of the process removes `path`: a file, a folder with
// what is in it, or with `onlyEmpty` a folder if nothing is in it.
class Leftover {
public:
  explicit Leftover(std::string path, bool onlyEmpty = false);
  ~Leftover();
  Leftover(const Leftover &) = delete;

private:
  int number;
};

// While it is held, an interrupt waits: for a thing and its Leftover, or
// several moves, to be made at once. Never comes back where the process is
// ending.
std::unique_lock<std::recursive_mutex> holdEnd();

// Latest first; no Leftover can be made or ended after it. For whoever ends the
// process (compiler/driver); any thread.
void removeLeftovers();

} // namespace mille

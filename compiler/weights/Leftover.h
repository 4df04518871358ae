// Files and folders that must not outlive the process: removed when it is
// interrupted or crashes. Must not be used for what is finished.
#pragma once
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

// Latest first. For whoever ends the process (compiler/driver); any thread.
void removeLeftovers();

} // namespace mille

// A temporary folder, removed when the object dies.
// Must not hold files that the user wants to keep.
#pragma once
#include "compiler/weights/Leftover.h"

#include <memory>
#include <string>

namespace mille {

class Scratch {
public:
  Scratch() = default;
  ~Scratch();
  Scratch(const Scratch &) = delete;

  const std::string &folder(); // the first call makes it

private:
  std::string path;
  std::unique_ptr<Leftover> leftover;
};

} // namespace mille

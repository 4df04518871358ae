// A folder that is gone when the work is done.
// Must not be used for what the user wants to keep.
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

  const std::string &folder(); // made when first asked for

private:
  std::string path;
  std::unique_ptr<Leftover> leftover;
};

} // namespace mille

// A size of a model.
#pragma once
#include "mlir/IR/Location.h"

#include <cstdint>
#include <string>

namespace mille::import {

// A size and, for messages, the key that gives it. Always > 0 where used.
struct Extent {
  int64_t value = 0;
  std::string key;
  mlir::LocationAttr at;
  explicit operator bool() const { return value > 0; }
};

} // namespace mille::import

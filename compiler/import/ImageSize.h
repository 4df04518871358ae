// Height and width of an image, in pixels.
#pragma once
#include <cstdint>

namespace mille {

struct ImageSize {
  int64_t height = 0, width = 0;
};

} // namespace mille

// Plain arithmetic.
#include "compiler/import/DistanceBuckets.h"

#include <algorithm>
#include <cmath>

std::vector<int64_t> mille::import::distanceBuckets(int64_t buckets,
                                                    int64_t most,
                                                    bool bothSides) {
  const int64_t count = bothSides ? buckets / 2 : buckets, exact = count / 2;
  const float range = float(std::log(double(most) / double(exact)));
  std::vector<int64_t> all;
  for (int64_t offset = -most; offset <= most; ++offset) { // key - query
    const int64_t distance =
        bothSides ? std::abs(offset) : std::max<int64_t>(0, -offset);
    int64_t bucket = distance;
    if (distance >= exact) {
      float part = std::log(float(distance) / float(exact)) / range;
      bucket = std::min(count - 1, exact + int64_t(part * float(count - exact)));
    }
    all.push_back(bucket + (bothSides && offset > 0 ? count : 0));
  }
  return all;
}

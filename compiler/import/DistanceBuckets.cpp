// Plain arithmetic.
#include "compiler/import/DistanceBuckets.h"

#include <algorithm>
#include <cmath>

std::vector<int64_t>
mille::import::distanceBuckets(int64_t buckets, int64_t most, bool bothSides) {
  const int64_t count = bothSides ? buckets / 2 : buckets, exact = count / 2;
  const float range = float(std::log(double(most) / double(exact)));
  std::vector<int64_t> all;
  for (int64_t offset = -most; offset <= most; ++offset) { // key - query
    const int64_t distance =
        bothSides ? std::abs(offset) : std::max<int64_t>(0, -offset);
    int64_t bucket = distance;
    if (distance >= exact) {
      float part = std::log(float(distance) / float(exact)) / range;
      bucket =
          std::min(count - 1, exact + int64_t(part * float(count - exact)));
    }
    all.push_back(bucket + (bothSides && offset > 0 ? count : 0));
  }
  return all;
}

// On each side of 0, small distances have a bucket each, up to half the
// buckets; larger ones share buckets of logarithmic width. In f32, as in
// training.
static int64_t bucketOf(int64_t offset, int64_t buckets, int64_t most) {
  const int64_t half = buckets / 2, distance = std::abs(offset);
  if (buckets <= 0 || distance <= half)
    return offset;
  const float range = std::log(float(double(most - 1) / double(half)));
  const float part = std::log(float(distance) / float(half)) / range;
  const int64_t bucket = int64_t(std::ceil(part * float(half - 1))) + half;
  return offset < 0 ? -bucket : bucket;
}

std::vector<int64_t> mille::import::contentRows(int64_t span, int64_t buckets,
                                                int64_t most) {
  int64_t reach = 1;
  while (bucketOf(reach, buckets, most) < span)
    ++reach;
  std::vector<int64_t> rows;
  for (int64_t offset = -reach; offset <= reach; ++offset) // key - query
    rows.push_back(std::clamp<int64_t>(bucketOf(-offset, buckets, most) + span,
                                       0, 2 * span - 1));
  return rows;
}

// The system's clocks, in nanoseconds. Must not compare different clocks.
#pragma once
#include <stdint.h>
#include <time.h>

namespace mille {

inline int64_t nanosecondsOf(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// Adds the nanoseconds of its life to a sum.
class Elapsed {
public:
  explicit Elapsed(int64_t &sum) : sum(sum) {}
  ~Elapsed() { sum += nanosecondsOf(CLOCK_MONOTONIC) - begin; }

private:
  int64_t &sum;
  const int64_t begin = nanosecondsOf(CLOCK_MONOTONIC);
};

} // namespace mille

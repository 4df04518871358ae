// Counts the inputs that were taken, so that a test sees where all are refused.
// Must not know the format.
#pragma once
#include <cstdio>

// Says at the program's end how many there were.
struct Taken {
  ~Taken() { std::printf("%lu of them taken\n", count); }
  unsigned long count = 0;
};

// What a test of kernels counts: a line says each thing that does not hold.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>

namespace mille::test {

inline int failures = 0;

inline void expect(bool holds, const std::string &what) {
  if (holds)
    return;
  ++failures;
  printf("%s\n", what.c_str());
}

inline std::string number(int64_t value) { return std::to_string(value); }

} // namespace mille::test

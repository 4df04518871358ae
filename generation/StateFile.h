// The layout of a saved sequence, for its writer and its reader, and for who
// makes damaged ones. Must not need more than C: the room has no C++ library.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace mille::generation {

// The file is: header | ids | the last one's outputs, if known | each state, if
// any id ran. A state is in pieces: a size in 8 bytes, then so many bytes; size
// 0 means all zeros. All numbers are in this machine's byte order.
struct StateFileHeader {
  char magic[8];
  uint32_t version, flags;
  uint64_t bytes; // of the file
  uint64_t check; // of what follows the header
  uint64_t model; // mille_package_hash
  int64_t held, ran, vocabulary, source;
  uint64_t stateBytes; // of all states; another context has others
  int64_t numbers;     // of outputs, of a token
};
constexpr char stateFileMagic[8] = {'M', 'I', 'L', 'L', 'E', 'S', 'Q', 1};
constexpr uint32_t stateFileVersion = 3, hasOutputs = 1;

// FNV-1a over bytes, so that pieces of any size give the same.
inline uint64_t checked(uint64_t sum, const void *bytes, size_t size) {
  const unsigned char *next = static_cast<const unsigned char *>(bytes);
  for (size_t at = 0; at < size; ++at)
    sum = (sum ^ next[at]) * 1099511628211ull;
  return sum;
}
constexpr uint64_t checkStart = 14695981039346656037ull;

// Of the header, where nothing but its own sum is left out.
inline uint64_t checkedHeader(uint64_t sum, StateFileHeader header) {
  header.check = 0;
  return checked(sum, &header, sizeof header);
}

} // namespace mille::generation

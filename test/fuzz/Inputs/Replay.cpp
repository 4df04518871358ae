// Feeds a fuzz program its seeds, what is left of them when they are cut, each
// bit of them flipped, and mutations of them, the same in every run.
// For builds without libFuzzer.
//   PROGRAM MUTATIONS SEED...
#include "Replay.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

// Makes one to four edits: flips a bit, sets a byte, removes or repeats a
// piece, or inserts digits.
std::string mutated(std::string bytes) {
  for (uint64_t edits = 1 + draw(4); edits && !bytes.empty(); --edits) {
    size_t at = draw(bytes.size());
    size_t length = 1 + draw(std::min<size_t>(bytes.size() - at, 16));
    switch (draw(5)) {
    case 0:
      bytes[at] = char(bytes[at] ^ (1 << draw(8)));
      break;
    case 1:
      bytes[at] = char(draw(256));
      break;
    case 2:
      bytes.erase(at, length);
      break;
    case 3:
      bytes.insert(at, bytes.substr(at, length));
      break;
    case 4:
      bytes.insert(at, "9223372036854775807");
      break;
    }
  }
  return bytes;
}

} // namespace

int main(int argc, char **argv) {
  long mutations = argc > 1 ? std::atol(argv[1]) : 0, fed = 0;
  const std::vector<std::string> seeds = readSeeds(argc, argv);
  for (const std::string &seed : seeds) {
    for (size_t size = 0; size <= seed.size() && size <= 1024; ++size, ++fed)
      feed(seed.substr(0, size));
    feed(seed);
    ++fed;
    // Every bit of what begins it.
    for (size_t bit = 0; bit < 8 * std::min<size_t>(seed.size(), 1024); ++bit) {
      std::string flipped = seed;
      flipped[bit / 8] = char(flipped[bit / 8] ^ (1 << bit % 8));
      feed(flipped);
      ++fed;
    }
  }
  for (long i = 0; i < mutations && !seeds.empty(); ++i, ++fed)
    feed(mutated(seeds[draw(seeds.size())]));
  std::printf("%ld inputs, no crash\n", fed);
  return fed ? 0 : 1;
}

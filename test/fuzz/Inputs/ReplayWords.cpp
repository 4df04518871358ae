// Feeds a fuzz program its seeds, which are texts, and the same with one word
// replaced: a value, a symbol, a number or a name by another one of the seeds,
// a number also by one at an edge. The same in every run. For builds without
// libFuzzer.
//   PROGRAM MUTATIONS SEED...
#include "Replay.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>

namespace {

struct Word {
  size_t at, length;
};

bool isPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ||
         c == '%' || c == '@' || c == '-' || c == '+';
}

std::vector<Word> wordsOf(const std::string &text) {
  std::vector<Word> words;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && isPart(text[end]))
      ++end;
    if (end > at)
      words.push_back({at, end - at});
    at = end + 1;
  }
  return words;
}

// Words of one kind can stand in each other's place: %values, @symbols,
// numbers, names.
size_t kindOf(const std::string &word) {
  const char first = word[0];
  return first == '%'   ? 0
         : first == '@' ? 1
         : std::isdigit(static_cast<unsigned char>(first)) || first == '-' ||
                 first == '+'
             ? 2
             : 3;
}

using Pools = std::array<std::vector<std::string>, 4>;

// The words of `seeds` by their kinds, rare ones as likely as frequent ones.
Pools poolsOf(const std::vector<std::string> &seeds) {
  Pools pools;
  for (const std::string &seed : seeds)
    for (const Word &word : wordsOf(seed)) {
      std::string text = seed.substr(word.at, word.length);
      pools[kindOf(text)].push_back(std::move(text));
    }
  for (std::vector<std::string> &pool : pools) {
    std::sort(pool.begin(), pool.end());
    pool.erase(std::unique(pool.begin(), pool.end()), pool.end());
  }
  for (const char *edge :
       {"0", "-1", "1", "2", "3", "99", "2147483647", "2147483648",
        "-9223372036854775808", "1.0e-30", "1.0e+300"})
    for (int weight = 0; weight < 8; ++weight)
      pools[2].push_back(edge);
  for (const char *edge : {"true", "false"})
    pools[3].push_back(edge);
  return pools;
}

} // namespace

int main(int argc, char **argv) {
  long mutations = argc > 1 ? std::atol(argv[1]) : 0, fed = 0;
  const std::vector<std::string> seeds = readSeeds(argc, argv);
  const Pools pools = poolsOf(seeds);
  for (const std::string &seed : seeds) {
    feed(seed);
    ++fed;
  }
  for (long i = 0; i < mutations && !seeds.empty(); ++i) {
    std::string text = seeds[draw(seeds.size())];
    const std::vector<Word> words = wordsOf(text);
    if (words.empty())
      continue;
    const Word word = words[draw(words.size())];
    const std::vector<std::string> &pool =
        pools[kindOf(text.substr(word.at, word.length))];
    feed(text.replace(word.at, word.length, pool[draw(pool.size())]));
    ++fed;
  }
  std::printf("%ld inputs, no crash\n", fed);
  return fed ? 0 : 1;
}

// WordPiece: the longest token that begins the word, then the longest that
// continues it. Must not give half a word: then it is unknown as a whole.
#include "text/Words.h"

namespace mille::text {

static size_t charactersIn(View text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size; ++i)
    count += (uint8_t(text.data[i]) & 0xc0) != 0x80;
  return count;
}

Status wordPiece(const mille_text &tokenizer, View piece, Workbench &bench,
                 Array<uint32_t> &ids) {
  const size_t begin = ids.size();
  bool known = charactersIn(piece) <= tokenizer.header.longestWord;
  Array<char> &key = bench.spelled; // the prefix and the rest of the word
  for (size_t at = 0; known && at < piece.size;) {
    key.clear();
    append(key, {tokenizer.continues.data, at ? tokenizer.continues.size : 0});
    size_t prefix = key.size();
    append(key, piece.from(at));
    if (key.lost())
      return outOfMemory();
    RunningHash hash;
    hash.add(View(key).cut(0, prefix));
    uint32_t best = none;
    size_t bytes = 0, most = tokenizer.longestToken;
    for (size_t end = prefix; end < key.size() && end < most;) {
      size_t one = bytesOf(key[end]);
      hash.add(View(key).cut(end, end + one));
      end += one;
      uint32_t id = tokenizer.lookup.find(View(key).cut(0, end), hash);
      if (id != none) {
        best = id;
        bytes = end - prefix;
      }
    }
    known = best != none;
    ids.push(best);
    at += bytes;
  }
  if (!known) {
    ids.shrink(begin);
    ids.push(tokenizer.unknown);
  }
  return MILLE_TEXT_OK;
}

} // namespace mille::text

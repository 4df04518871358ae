// Byte pair encoding: the pair of the lowest rank merges first, and of equal
// ones the leftmost. A heap, so that a long word costs n log n.
// Must not know whether its symbols are bytes or characters.
#include "text/Words.h"

namespace mille::text {

bool asByteTokens(const mille_text &tokenizer, View text,
                  Array<uint32_t> &ids) {
  for (size_t i = 0; i < text.size; ++i)
    if (tokenizer.byteToken[uint8_t(text.data[i])] == none)
      return false;
  for (size_t i = 0; i < text.size; ++i)
    ids.push(tokenizer.byteToken[uint8_t(text.data[i])]);
  return true;
}

namespace {

class Word {
public:
  Word(const mille_text &tokenizer, View word, Workbench &bench)
      : tokenizer(tokenizer), word(word), bench(bench), symbols(bench.symbols) {
  }

  Status run(Array<uint32_t> &ids) {
    symbols.clear();
    bench.heap.clear();
    if (tokenizer.has(byteLevel))
      bytes();
    else
      characters();
    if (symbols.lost() || symbols.size() > size_t(INT32_MAX))
      return outOfMemory();
    if (symbols.size() > 1)
      merge();
    for (const Workbench::Symbol &symbol : symbols)
      if (symbol.bytes)
        ids.push(symbol.id);
    return MILLE_TEXT_OK;
  }

private:
  void add(uint32_t id, size_t bytes) {
    int32_t at = int32_t(symbols.size());
    symbols.push({id, uint32_t(bytes), at - 1, at + 1});
  }

  // A byte without a token is left out, as is an unknown character where the
  // vocabulary has no unknown token.
  void bytes() {
    for (size_t i = 0; i < word.size; ++i)
      if (uint32_t id = tokenizer.byteToken[uint8_t(word.data[i])]; id != none)
        add(id, 1);
      else
        unknown(1);
    flush();
  }

  void characters() {
    for (size_t at = 0; at < word.size;) {
      unsigned bytes = bytesOf(word.data[at]);
      character(word.cut(at, at + bytes), at == 0, at + bytes == word.size);
      at += bytes;
    }
    flush();
  }

  void character(View one, bool first, bool last) {
    View text = one;
    if ((!first && tokenizer.continues.size) ||
        (last && tokenizer.endsWord.size)) {
      bench.spelled.clear();
      if (!first)
        append(bench.spelled, tokenizer.continues);
      append(bench.spelled, one);
      if (last)
        append(bench.spelled, tokenizer.endsWord);
      text = bench.spelled;
    }
    uint32_t id = tokenizer.lookup.find(text);
    if (id != none) {
      flush();
      add(id, one.size);
    } else if (!tokenizer.has(byteFallback) || !fallBack(text)) {
      unknown(one.size);
    }
  }
  // As in `tokenizers`, an unknown character that waits to be written goes on
  // waiting.
  bool fallBack(View text) {
    for (size_t i = 0; i < text.size; ++i)
      if (tokenizer.byteToken[uint8_t(text.data[i])] == none)
        return false;
    for (size_t i = 0; i < text.size; ++i)
      add(tokenizer.byteToken[uint8_t(text.data[i])], 1);
    return true;
  }
  void unknown(size_t bytes) {
    if (tokenizer.unknown == none)
      return;
    if (waiting && !tokenizer.has(fuseUnknown))
      flush();
    waiting += bytes;
  }
  void flush() {
    if (waiting)
      add(tokenizer.unknown, waiting);
    waiting = 0;
  }

  void consider(int32_t left) {
    int32_t right = symbols[size_t(left)].after;
    if (size_t(right) >= symbols.size())
      return;
    const Merge *merge = tokenizer.merges.find(symbols[size_t(left)].id,
                                               symbols[size_t(right)].id);
    if (merge)
      push({merge->rank, uint32_t(left), merge->result});
  }

  void merge() {
    for (size_t i = 0; i + 1 < symbols.size(); ++i)
      consider(int32_t(i));
    while (!bench.heap.empty()) {
      Workbench::Candidate top = pop();
      Workbench::Symbol &left = symbols[top.at];
      if (!left.bytes || size_t(left.after) >= symbols.size())
        continue;
      Workbench::Symbol &right = symbols[size_t(left.after)];
      const Merge *still = tokenizer.merges.find(left.id, right.id);
      if (!still || still->result != top.result)
        continue; // one of the two has merged since
      left.id = top.result;
      left.bytes += right.bytes;
      right.bytes = 0;
      left.after = right.after;
      if (size_t(left.after) < symbols.size())
        symbols[size_t(left.after)].before = int32_t(top.at);
      if (left.before >= 0)
        consider(left.before);
      consider(int32_t(top.at));
    }
  }

  void push(Workbench::Candidate item) {
    Array<Workbench::Candidate> &heap = bench.heap;
    heap.push(item);
    for (size_t at = heap.size(); at-- > 1;) {
      size_t above = (at - 1) / 2;
      if (!(heap[at] < heap[above]))
        return;
      swap(at, above);
      at = above + 1;
    }
  }
  Workbench::Candidate pop() {
    Array<Workbench::Candidate> &heap = bench.heap;
    Workbench::Candidate top = heap[0];
    heap[0] = heap.back();
    heap.shrink(heap.size() - 1);
    for (size_t at = 0;;) {
      size_t least = at;
      for (size_t below = at * 2 + 1; below <= at * 2 + 2; ++below)
        if (below < heap.size() && heap[below] < heap[least])
          least = below;
      if (least == at)
        return top;
      swap(at, least);
      at = least;
    }
  }
  void swap(size_t one, size_t other) {
    Workbench::Candidate held = bench.heap[one];
    bench.heap[one] = bench.heap[other];
    bench.heap[other] = held;
  }

  const mille_text &tokenizer;
  View word;
  Workbench &bench;
  Array<Workbench::Symbol> &symbols;
  size_t waiting = 0; // bytes of unknown characters
};

constexpr size_t longestKnown = 64;
constexpr size_t knownPlaces = 1 << 13;

} // namespace

// Words recur in a text, so a call merges each short word only once.
Status bpe(const mille_text &tokenizer, View piece, Workbench &bench,
           Array<uint32_t> &ids) {
  if (tokenizer.has(wholeWordFirst))
    if (uint32_t id = tokenizer.lookup.find(piece); id != none) {
      ids.push(id);
      return MILLE_TEXT_OK;
    }
  if (piece.size > longestKnown || bench.known.empty())
    return Word(tokenizer, piece, bench).run(ids);
  RunningHash hash;
  hash.add(piece);
  Workbench::Known &place = bench.known[hash.slot() % knownPlaces];
  if (place.hash == hash.value &&
      View(bench.knownWords).cut(place.word, place.word + place.bytes) ==
          piece) {
    ids.append(bench.knownIds.data() + place.ids, place.count);
    return MILLE_TEXT_OK;
  }
  size_t begin = ids.size();
  if (Status status = Word(tokenizer, piece, bench).run(ids))
    return status;
  place = {hash.value, uint32_t(bench.knownWords.size()), uint32_t(piece.size),
           uint32_t(bench.knownIds.size()), uint32_t(ids.size() - begin)};
  append(bench.knownWords, piece);
  bench.knownIds.append(ids.data() + begin, ids.size() - begin);
  return bench.lost() ? outOfMemory() : MILLE_TEXT_OK;
}

} // namespace mille::text

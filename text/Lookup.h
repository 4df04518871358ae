// Finds a token's id by its bytes, and the id that two ids merge into.
// Must not own a token: keys are views into the file.
#pragma once
#include "text/Bytes.h"
#include "text/Layout.h"

namespace mille::text {

// FNV-1a of the bytes added so far: one pass gives the hash of every prefix of
// a text.
struct RunningHash {
  uint64_t value = 0xcbf29ce484222325u;
  void add(char byte) { value = (value ^ uint8_t(byte)) * 0x100000001b3u; }
  void add(View text) {
    for (size_t i = 0; i < text.size; ++i)
      add(text.data[i]);
  }
  uint64_t slot() const { return (value ^ value >> 32) * 0x9e3779b97f4a7c15u; }
};

// The tokens that the model can make, by their bytes.
class Lookup {
public:
  // `keys` has an entry for every id.
  bool build(const Array<View> &keys, const uint8_t *kinds);
  uint32_t find(View text) const {
    RunningHash hash;
    hash.add(text);
    return find(text, hash);
  }
  uint32_t find(View text, RunningHash hash) const;

private:
  struct Entry {
    const char *data;
    uint32_t size, id;
  };
  Array<Entry> entries;
  unsigned shift = 64;
};

// The merges, by the ids of their halves.
class Merges {
public:
  bool build(const Merge *merges, size_t count);
  const Merge *find(uint32_t left, uint32_t right) const {
    for (size_t at = slot(left, right);; at = (at + 1) & (entries.size() - 1)) {
      const Merge &entry = entries[at];
      if (entry.left == left && entry.right == right)
        return &entry;
      if (entry.left == none)
        return nullptr;
    }
  }

private:
  size_t slot(uint32_t left, uint32_t right) const {
    return ((uint64_t(left) << 32 | right) * 0x9e3779b97f4a7c15u) >> shift;
  }
  Array<Merge> entries;
  unsigned shift = 64;
};

// A tree of texts, which finds the longest of them that begins at a position.
// All edges of the tree are entries of one table.
class Trie {
public:
  bool add(View text, uint32_t value); // a text given twice keeps the last
  bool empty() const { return values.size() <= 1; }
  bool mayBegin(char byte) const { return begins[uint8_t(byte)]; }
  // The node after `byte`; 0, which is the root, where there is none.
  uint32_t child(uint32_t node, char byte) const;
  uint32_t valueOf(uint32_t node) const { return values[node]; }
  // The longest text that begins at `at`: its value, or none.
  uint32_t longest(View text, size_t at, size_t &bytes) const;

private:
  struct Edge {
    uint32_t node, child;
    char byte;
  };
  bool grow();
  size_t slot(uint32_t node, char byte) const {
    return ((uint64_t(node) << 8 | uint8_t(byte)) * 0x9e3779b97f4a7c15u) >>
           shift;
  }
  Array<Edge> edges; // child 0: free
  Array<uint32_t> values;
  bool begins[256] = {};
  unsigned shift = 64;
};

} // namespace mille::text

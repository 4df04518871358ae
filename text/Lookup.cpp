// Hash tables with open addressing, at most half full.
// Must not give a wrong answer for keys of the same hash.
#include "text/Lookup.h"

namespace mille::text {

// For `count` entries: 1 << bits places, half of them free.
static unsigned bitsFor(size_t count) {
  unsigned bits = 4;
  while ((size_t(1) << bits) < count * 2)
    ++bits;
  return bits;
}

bool Lookup::build(const Array<View> &keys, const uint8_t *kinds) {
  size_t count = 0;
  for (size_t id = 0; id < keys.size(); ++id)
    count += (kinds[id] & reachable) != 0;
  unsigned bits = bitsFor(count);
  shift = 64 - bits;
  if (!entries.resize(size_t(1) << bits, {nullptr, 0, none}))
    return false;
  for (size_t id = 0; id < keys.size(); ++id) {
    if (!(kinds[id] & reachable))
      continue;
    RunningHash hash;
    hash.add(keys[id]);
    size_t at = hash.slot() >> shift;
    while (entries[at].id != none)
      at = (at + 1) & (entries.size() - 1);
    entries[at] = {keys[id].data, uint32_t(keys[id].size), uint32_t(id)};
  }
  return true;
}

uint32_t Lookup::find(View text, RunningHash hash) const {
  for (size_t at = hash.slot() >> shift;;
       at = (at + 1) & (entries.size() - 1)) {
    const Entry &entry = entries[at];
    if (entry.id == none || View(entry.data, entry.size) == text)
      return entry.id;
  }
}

bool Merges::build(const Merge *merges, size_t count) {
  unsigned bits = bitsFor(count);
  shift = 64 - bits;
  if (!entries.resize(size_t(1) << bits, {none, none, none, none}))
    return false;
  for (size_t i = 0; i < count; ++i) {
    size_t at = slot(merges[i].left, merges[i].right);
    while (entries[at].left != none && (entries[at].left != merges[i].left ||
                                        entries[at].right != merges[i].right))
      at = (at + 1) & (entries.size() - 1);
    entries[at] = merges[i]; // of two for one pair the later one counts
  }
  return true;
}

uint32_t Trie::child(uint32_t node, char byte) const {
  if (edges.empty())
    return 0;
  for (size_t at = slot(node, byte);; at = (at + 1) & (edges.size() - 1)) {
    const Edge &edge = edges[at];
    if (!edge.child || (edge.node == node && edge.byte == byte))
      return edge.child;
  }
}

bool Trie::grow() {
  if (!edges.empty() && values.size() * 2 <= edges.size())
    return true;
  unsigned bits = bitsFor(values.size() * 2);
  Array<Edge> old;
  for (const Edge &edge : edges)
    if (edge.child)
      old.push(edge);
  edges.clear();
  shift = 64 - bits;
  if (old.lost() || !edges.resize(size_t(1) << bits, {0, 0, 0}))
    return false;
  for (const Edge &edge : old) {
    size_t at = slot(edge.node, edge.byte);
    while (edges[at].child)
      at = (at + 1) & (edges.size() - 1);
    edges[at] = edge;
  }
  return true;
}

bool Trie::add(View text, uint32_t value) {
  if (values.empty())
    values.push(none);
  if (text.size)
    begins[uint8_t(text.data[0])] = true;
  uint32_t node = 0;
  for (size_t i = 0; i < text.size; ++i) {
    uint32_t next = child(node, text.data[i]);
    if (!next) {
      if (!grow())
        return false;
      size_t at = slot(node, text.data[i]);
      while (edges[at].child)
        at = (at + 1) & (edges.size() - 1);
      next = uint32_t(values.size());
      values.push(none);
      edges[at] = {node, next, text.data[i]};
    }
    node = next;
  }
  if (values.lost())
    return false;
  if (node)
    values[node] = value;
  return true;
}

uint32_t Trie::longest(View text, size_t at, size_t &bytes) const {
  uint32_t node = 0, best = none;
  for (size_t i = at; i < text.size; ++i) {
    node = child(node, text.data[i]);
    if (!node)
      break;
    if (values[node] != none) {
      best = values[node];
      bytes = i + 1 - at;
    }
  }
  return best;
}

} // namespace mille::text

// UTF-8, byte by byte.
// Must not read past the text, whatever it holds.
#include "text/Bytes.h"

namespace mille::text {

size_t View::find(View other, size_t at) const {
  while (at + other.size <= size) {
    const void *lead =
        memchr(data + at, other.data[0], size - other.size - at + 1);
    if (!lead)
      return SIZE_MAX;
    at = size_t(static_cast<const char *>(lead) - data);
    if (from(at).startsWith(other))
      return at;
    ++at;
  }
  return SIZE_MAX;
}

// The table 3-7 of Unicode: the second byte has a range of its own after some
// leads, so that no character has two spellings and none is a surrogate.
Character characterAt(View text, size_t at) {
  Character found;
  const uint8_t *bytes = reinterpret_cast<const uint8_t *>(text.data);
  uint8_t lead = bytes[at];
  found.bytes = 1;
  if (lead < 0x80) {
    found.code = lead;
    found.whole = true;
    return found;
  }
  if (lead < 0xc2 || lead > 0xf4)
    return found;
  unsigned wanted = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  uint32_t code = lead & (0x7fu >> wanted);
  for (unsigned i = 1; i < wanted; ++i) {
    if (at + i >= text.size) {
      found.cut = true;
      return found;
    }
    uint8_t low = 0x80, high = 0xbf, byte = bytes[at + i];
    if (i == 1) {
      low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : low;
      high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : high;
    }
    if (byte < low || byte > high)
      return found;
    code = code << 6 | (byte & 0x3f);
    found.bytes = i + 1;
  }
  found.code = code;
  found.whole = true;
  return found;
}

uint32_t codeOf(View text, size_t at, unsigned &bytes) {
  Character found = characterAt(text, at);
  bytes = found.bytes;
  return found.code;
}

void appendCode(Array<char> &out, uint32_t code) {
  char bytes[4];
  unsigned count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (unsigned i = count; i-- > 1; code >>= 6)
    bytes[i] = char(0x80 | (code & 0x3f));
  const uint8_t leads[5] = {0, 0, 0xc0, 0xe0, 0xf0};
  bytes[0] = char(leads[count] | code);
  out.append(bytes, count);
}

void appendRepaired(Array<char> &out, View text) {
  size_t good = 0, at = 0;
  while (at < text.size) {
    Character next = characterAt(text, at);
    if (!next.whole) {
      append(out, text.cut(good, at));
      append(out, {"\xef\xbf\xbd", 3});
      good = at + next.bytes;
    }
    at += next.bytes;
  }
  append(out, text.cut(good, at));
}

bool isUtf8(View text) {
  for (size_t at = 0; at < text.size;) {
    Character next = characterAt(text, at);
    if (!next.whole)
      return false;
    at += next.bytes;
  }
  return true;
}

} // namespace mille::text

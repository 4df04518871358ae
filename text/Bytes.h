// A view of bytes, and the characters of UTF-8 in it.
// Must not allocate except in the arrays that it is given.
#pragma once
#include "text/Array.h"

namespace mille::text {

struct View {
  const char *data = nullptr;
  size_t size = 0;

  View() = default;
  View(const char *data, size_t size) : data(data), size(size) {}
  View(const Array<char> &bytes) : data(bytes.data()), size(bytes.size()) {}
  View from(size_t begin) const { return {data + begin, size - begin}; }
  View cut(size_t begin, size_t end) const {
    return {data + begin, end - begin};
  }
  bool operator==(View other) const {
    return size == other.size && (!size || !memcmp(data, other.data, size));
  }
  bool startsWith(View other) const {
    return size >= other.size &&
           (!other.size || !memcmp(data, other.data, other.size));
  }
  // Where `other`, which is not empty, first stands at `at` or later; SIZE_MAX
  // where it does not.
  size_t find(View other, size_t at = 0) const;
};

// The next part of a text: a character of `bytes`, or `bytes` that are no
// UTF-8.
struct Character {
  uint32_t code = 0xfffd;
  unsigned bytes = 0;
  bool whole = false;
  bool cut = false; // the text ends within what may be a character
};
Character characterAt(View text, size_t at);

// The bytes of a character of valid UTF-8, by its first byte.
inline unsigned bytesOf(char lead) {
  uint8_t byte = uint8_t(lead);
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}
uint32_t codeOf(View text, size_t at, unsigned &bytes);
void appendCode(Array<char> &out, uint32_t code);
inline void append(Array<char> &out, View text) {
  out.append(text.data, text.size);
}
// `text` with U+FFFD for what is no UTF-8.
void appendRepaired(Array<char> &out, View text);
bool isUtf8(View text);

} // namespace mille::text

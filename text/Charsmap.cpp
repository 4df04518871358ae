// Walks the double array and checks every step.
// Must not cut a character of its input; callers repair its output.
#include "text/Charsmap.h"

#include <utf8proc.h>

namespace mille::text {

bool Charsmap::open(View blob) {
  uint32_t bytes = 0;
  if (blob.size < sizeof bytes)
    return false;
  memcpy(&bytes, blob.data, sizeof bytes);
  if (bytes % 4 || bytes > blob.size - sizeof bytes)
    return false;
  units = blob.cut(sizeof bytes, sizeof bytes + bytes);
  texts = blob.from(sizeof bytes + bytes);
  return true;
}

bool Charsmap::unit(uint64_t at, uint32_t &value) const {
  if (at >= units.size / 4)
    return false;
  memcpy(&value, units.data + at * 4, sizeof value);
  return true;
}

// A unit's bits, as Darts lays them out: 0 to 7 and 31 its label, 8 whether a
// value follows, 9 whether the offset in 10 to 30 counts 256s.
static uint64_t offsetOf(uint32_t unit) {
  return uint64_t(unit >> 10) << ((unit & (1u << 9)) >> 6);
}

bool Charsmap::find(View text, View &becomes) const {
  uint32_t value = 0;
  if (!unit(0, value))
    return false;
  uint64_t at = offsetOf(value);
  for (size_t i = 0; i < text.size && text.data[i]; ++i) {
    uint8_t byte = uint8_t(text.data[i]);
    at ^= byte;
    if (!unit(at, value) || (value & ((1u << 31) | 0xff)) != byte)
      return false;
    at ^= offsetOf(value);
    if (!(value >> 8 & 1))
      continue;
    uint32_t where = 0;
    if (!unit(at, where))
      return false;
    where &= (1u << 31) - 1;
    if (where > texts.size)
      return false;
    const void *end = memchr(texts.data + where, 0, texts.size - where);
    becomes = end ? texts.cut(where, size_t(static_cast<const char *>(end) -
                                            texts.data))
                  : texts.from(where);
    return true;
  }
  return false;
}

void Charsmap::applyTo(View grapheme, Array<char> &out) const {
  View becomes;
  if (grapheme.size < 6 && find(grapheme, becomes)) {
    append(out, becomes);
    return;
  }
  for (size_t at = 0; at < grapheme.size;) {
    View one = grapheme.cut(at, at + bytesOf(grapheme.data[at]));
    append(out, find(one, becomes) ? becomes : one);
    at += one.size;
  }
}

void Charsmap::apply(View text, Array<char> &out) const {
  size_t begin = 0;
  utf8proc_int32_t state = 0;
  uint32_t before = 0;
  for (size_t at = 0; at < text.size;) {
    unsigned bytes = 0;
    uint32_t code = codeOf(text, at, bytes);
    if (at && utf8proc_grapheme_break_stateful(
                  utf8proc_int32_t(before), utf8proc_int32_t(code), &state)) {
      applyTo(text.cut(begin, at), out);
      begin = at;
    }
    before = code;
    at += bytes;
  }
  if (begin < text.size)
    applyTo(text.from(begin), out);
}

} // namespace mille::text

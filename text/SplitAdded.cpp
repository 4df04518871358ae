// Finds added tokens in a text: the leftmost first, the longest of those that
// begin there. Must not look into a piece that is a token already.
#include "text/Normalize.h"
#include "text/Split.h"

#include <utf8proc.h>

namespace mille::text {
namespace {

// \w of Unicode's regular expressions: Alphabetic, marks, decimal digits,
// connectors, joiners.
bool isWord(uint32_t code) {
  switch (utf8proc_category(utf8proc_int32_t(code))) {
  case UTF8PROC_CATEGORY_LU:
  case UTF8PROC_CATEGORY_LL:
  case UTF8PROC_CATEGORY_LT:
  case UTF8PROC_CATEGORY_LM:
  case UTF8PROC_CATEGORY_LO:
  case UTF8PROC_CATEGORY_MN:
  case UTF8PROC_CATEGORY_MC:
  case UTF8PROC_CATEGORY_ME:
  case UTF8PROC_CATEGORY_ND:
  case UTF8PROC_CATEGORY_NL:
  case UTF8PROC_CATEGORY_PC:
    return true;
  default: // circled letters are alphabetic
    return code == 0x200c || code == 0x200d ||
           (code >= 0x24b6 && code <= 0x24e9) ||
           (code >= 0x1f130 && code <= 0x1f149) ||
           (code >= 0x1f150 && code <= 0x1f169) ||
           (code >= 0x1f170 && code <= 0x1f189);
  }
}

// Where the character before `at` begins.
size_t before(View text, size_t at) {
  do
    --at;
  while (at && (uint8_t(text.data[at]) & 0xc0) == 0x80);
  return at;
}

bool wordEndsAt(View text, size_t at) {
  unsigned bytes = 0;
  return at && isWord(codeOf(text, before(text, at), bytes));
}

bool wordBeginsAt(View text, size_t at) {
  unsigned bytes = 0;
  return at < text.size && isWord(codeOf(text, at, bytes));
}

size_t spacesBefore(View text, size_t at) {
  while (at) {
    unsigned bytes = 0;
    size_t one = before(text, at);
    if (!isSpace(codeOf(text, one, bytes)))
      break;
    at = one;
  }
  return at;
}

size_t spacesAfter(View text, size_t at) {
  while (at < text.size) {
    unsigned bytes = 0;
    if (!isSpace(codeOf(text, at, bytes)))
      break;
    at += bytes;
  }
  return at;
}

} // namespace

Status splitAdded(const mille_text &tokenizer, const Trie &trie, View text,
                  bool asText, bool atStart, Array<Piece> &parts) {
  size_t done = 0; // up to here `text` has become parts
  auto push = [&](size_t begin, size_t end, uint32_t id) {
    if (begin < end || id != none)
      parts.push({begin, end, id, atStart && begin == 0});
  };
  for (size_t at = 0; at < text.size && !trie.empty();) {
    size_t bytes = 0;
    uint32_t found =
        trie.mayBegin(text.data[at]) ? trie.longest(text, at, bytes) : none;
    if (found == none) {
      ++at;
      continue;
    }
    const ReadyAdded &token = tokenizer.added[found];
    size_t begin = at, end = at + bytes;
    at = end;
    if ((asText && (token.flags & addedSpecial)) ||
        ((token.flags & singleWord) &&
         (wordEndsAt(text, begin) || wordBeginsAt(text, end))))
      continue;
    if (token.flags & eatsLeft) {
      size_t left = spacesBefore(text, begin);
      begin = left > done ? left : done;
    }
    if (token.flags & eatsRight)
      end = spacesAfter(text, end);
    if (done < begin)
      push(done, begin, none);
    push(begin, end, token.id);
    done = end;
  }
  if (done < text.size)
    push(done, text.size, none);
  return parts.lost() ? outOfMemory() : MILLE_TEXT_OK;
}

} // namespace mille::text

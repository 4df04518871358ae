// An open NAME.tokens: views into its bytes, and tables to look up tokens.
// Must not change once it is open.
#pragma once
#include "text/Charsmap.h"
#include "text/Layout.h"
#include "text/Lookup.h"
#include "text/Pattern.h"

namespace mille::text {

// A step whose pattern is compiled and whose map is checked.
struct ReadyStep {
  uint32_t kind = 0, number = 0, other = 0;
  View first, second;
  Pattern pattern;
  Charsmap charsmap;
};

struct ReadyAdded {
  uint32_t id = none, flags = 0;
  View text;
};

struct ChatFormat; // Chat.h

} // namespace mille::text

struct mille_text {
  mille_text() = default;
  mille_text(const mille_text &) = delete;
  ~mille_text();

  mille::text::Array<char> bytes; // the whole file
  mille::text::Header header;
  mille::text::Array<mille::text::View> tokens;
  const uint8_t *kinds = nullptr;
  const double *scores = nullptr; // for unigram models
  double leastScore = 0;
  size_t longestToken = 0;
  mille::text::View continues, endsWord, chatTemplate, bosText, eosText;
  mille::text::Array<uint32_t> firstIds, lastIds;

  mille::text::ReadyStep *steps = nullptr;
  size_t stepCount = 0;
  mille::text::Array<mille::text::ReadyAdded> added;
  mille::text::Array<char> normalizedTexts;    // of added tokens
  mille::text::Trie addedRaw, addedNormalized; // values: entries of `added`

  mille::text::Lookup lookup;
  mille::text::Merges merges;
  mille::text::Trie pieces; // for unigram models; values: ids
  uint32_t byteToken[256];  // byteLevel: a byte's token; byteFallback: <0x41>
  uint32_t unknown = mille::text::none;
  const mille::text::ChatFormat *chat = nullptr;

  bool has(uint32_t flag) const { return header.flags & flag; }
  bool hasToken(int64_t id) const {
    return id >= 0 && uint64_t(id) < tokens.size() &&
           (kinds[id] & mille::text::present);
  }
};

namespace mille::text {

// Reads text.bytes. If they are no NAME.tokens, the message says why.
Status open(mille_text &text);

} // namespace mille::text

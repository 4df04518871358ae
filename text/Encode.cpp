// Encodes text: added tokens, normalizer, splits, model, first and last ids.
// Must not do the work of a step itself.
#include "text/Normalize.h"
#include "text/Split.h"
#include "text/Words.h"

using namespace mille::text;

namespace {

constexpr size_t mostTextBytes = size_t(1) << 30;
// In texts of this size it pays to remember the ids of words.
constexpr size_t manyBytes = 2048;

class Encoding {
public:
  Encoding(const mille_text &tokenizer, int flags)
      : tokenizer(tokenizer), flags(flags) {}

  Status run(View text) {
    if (text.size > manyBytes && tokenizer.header.model == bpeModel &&
        !bench.known.resize(1 << 13, {0, 0, 0, 0, 0}))
      return outOfMemory();
    Array<char> repaired;
    if (!isUtf8(text)) {
      appendRepaired(repaired, text);
      if (repaired.lost())
        return outOfMemory();
      text = repaired;
    }
    if (flags & MILLE_TEXT_ENDS)
      ids.append(tokenizer.firstIds.data(), tokenizer.firstIds.size());
    Array<Piece> parts;
    if (Status status =
            splitAdded(tokenizer, tokenizer.addedRaw, text, asText(),
                       /*atStart=*/true, parts))
      return status;
    for (const Piece &part : parts)
      if (Status status = raw(part, text))
        return status;
    if (flags & MILLE_TEXT_ENDS)
      ids.append(tokenizer.lastIds.data(), tokenizer.lastIds.size());
    return ids.lost() || bench.lost() ? outOfMemory() : MILLE_TEXT_OK;
  }

  Array<uint32_t> ids;

private:
  bool asText() const { return !(flags & MILLE_TEXT_SPECIAL); }

  Status raw(const Piece &part, View text) {
    if (part.id != none) {
      ids.push(part.id);
      return MILLE_TEXT_OK;
    }
    Array<char> normal;
    if (Status status = normalize(tokenizer, text.cut(part.begin, part.end),
                                  matching, normal))
      return status;
    Array<Piece> parts;
    if (Status status = splitAdded(tokenizer, tokenizer.addedNormalized, normal,
                                   asText(), part.atStart, parts))
      return status;
    for (const Piece &inner : parts)
      if (Status status = normalized(inner, normal))
        return status;
    return MILLE_TEXT_OK;
  }

  Status normalized(const Piece &part, View text) {
    if (part.id != none) {
      ids.push(part.id);
      return MILLE_TEXT_OK;
    }
    Array<char> here;
    append(here, text.cut(part.begin, part.end));
    Array<Piece> pieces;
    pieces.push({0, here.size(), none, part.atStart});
    if (here.lost() || pieces.lost())
      return outOfMemory();
    if (Status status = splitPieces(tokenizer, here, pieces, matching))
      return status;
    for (const Piece &piece : pieces)
      if (Status status = word(View(here).cut(piece.begin, piece.end)))
        return status;
    return MILLE_TEXT_OK;
  }

  Status word(View piece) {
    switch (tokenizer.header.model) {
    case bpeModel:
      return bpe(tokenizer, piece, bench, ids);
    case unigramModel:
      return unigram(tokenizer, piece, bench, ids);
    default:
      return wordPiece(tokenizer, piece, bench, ids);
    }
  }

  const mille_text &tokenizer;
  const int flags;
  Matching matching;
  Workbench bench;
};

} // namespace

mille_text_status mille_text_ends(const mille_text *text, size_t *before,
                                  size_t *after) {
  if (!text || !before || !after)
    return say(MILLE_TEXT_INVALID_ARGUMENT,
               "mille_text_ends: a pointer is null");
  *before = text->firstIds.size();
  *after = text->lastIds.size();
  return MILLE_TEXT_OK;
}

mille_text_status mille_text_encode(const mille_text *text, const char *bytes,
                                    size_t size, int flags, int32_t *ids,
                                    size_t room, size_t *count) {
  if (!text || (!bytes && size) || (!ids && room) || !count ||
      (flags & ~(MILLE_TEXT_SPECIAL | MILLE_TEXT_ENDS)))
    return say(MILLE_TEXT_INVALID_ARGUMENT,
               "mille_text_encode: a pointer is null or a flag is unknown");
  *count = 0;
  if (size > mostTextBytes)
    return say(MILLE_TEXT_TOO_LARGE,
               "the text has %zu bytes but may have at most %zu", size,
               mostTextBytes);
  Encoding encoding(*text, flags);
  if (Status status = encoding.run({bytes, size}))
    return status;
  *count = encoding.ids.size();
  for (size_t i = 0; i < *count && i < room; ++i)
    ids[i] = int32_t(encoding.ids[i]);
  return MILLE_TEXT_OK;
}

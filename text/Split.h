// Cuts a text before the model sees it: at added tokens, then by the steps that
// split. Must not make a token of a piece: the model does that.
#pragma once
#include "text/Tokenizer.h"

namespace mille::text {

struct Piece {
  size_t begin, end;
  uint32_t id;  // of an added token; none: text
  bool atStart; // the text that was given begins here
};

// Appends the parts of `text`: added tokens and what stands between them.
// `asText`: special tokens are text.
Status splitAdded(const mille_text &tokenizer, const Trie &trie, View text,
                  bool asText, bool atStart, Array<Piece> &parts);

// Takes all steps that split. Afterwards `text` may be another one, of which
// `pieces` are parts.
Status splitPieces(const mille_text &tokenizer, Array<char> &text,
                   Array<Piece> &pieces, Matching &matching);

} // namespace mille::text

// The models, which make ids of a piece of text. Must not look beyond the
// piece.
#pragma once
#include "text/Tokenizer.h"

namespace mille::text {

// Memory that one call uses for all of its pieces.
struct Workbench {
  struct Symbol {
    uint32_t id, bytes; // 0 bytes: this symbol is merged into another one
    int32_t before, after;
  };
  struct Candidate {
    uint32_t rank, at, result;
    bool operator<(const Candidate &other) const {
      return rank != other.rank ? rank < other.rank : at < other.at;
    }
  };
  struct Step { // the last token of the best way to a position in the text
    double score;
    size_t begin;
    uint32_t id;
  };
  // A short word that this call has met, and its ids.
  struct Known {
    uint64_t hash;
    uint32_t word, bytes, ids, count;
  };
  Array<Symbol> symbols;
  Array<Candidate> heap;
  Array<Step> best;
  Array<char> spelled;
  Array<Known> known;
  Array<char> knownWords;
  Array<uint32_t> knownIds;

  bool lost() const {
    return symbols.lost() || heap.lost() || best.lost() || spelled.lost() ||
           known.lost() || knownWords.lost() || knownIds.lost();
  }
};

Status bpe(const mille_text &tokenizer, View piece, Workbench &bench,
           Array<uint32_t> &ids);
Status unigram(const mille_text &tokenizer, View piece, Workbench &bench,
               Array<uint32_t> &ids);
Status wordPiece(const mille_text &tokenizer, View piece, Workbench &bench,
                 Array<uint32_t> &ids);

// Appends a token <0x..> for each byte of `text`. If the vocabulary lacks one
// of them, it appends none and returns false.
bool asByteTokens(const mille_text &tokenizer, View text, Array<uint32_t> &ids);

} // namespace mille::text

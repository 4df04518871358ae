// The models: a piece of text becomes ids. Must not look beyond the piece.
#pragma once
#include "text/Tokenizer.h"

namespace mille::text {

// What a call needs for its pieces; made once, used for all of them.
struct Workbench {
  struct Symbol {
    uint32_t id, bytes; // 0 bytes: merged into another
    int32_t before, after;
  };
  struct Candidate {
    uint32_t rank, at, result;
    bool operator<(const Candidate &other) const {
      return rank != other.rank ? rank < other.rank : at < other.at;
    }
  };
  struct Step { // of the best way to a place in the text
    double score;
    size_t begin;
    uint32_t id;
  };
  // A short word and its ids, from the same call.
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

// Tokens <0x..> for each byte of `text`; false, and no token, where the
// vocabulary lacks one.
bool asByteTokens(const mille_text &tokenizer, View text, Array<uint32_t> &ids);

} // namespace mille::text

// Unigrams: of all ways to cut a piece into tokens, the one whose scores have
// the largest sum (Viterbi). Must not prefer the later of two equal ways.
#include "text/Words.h"

namespace mille::text {

// An unknown character scores this much less than the least likely token; a
// constant of SentencePiece.
constexpr double unknownPenalty = 10;

namespace {

class Lattice {
public:
  Lattice(const mille_text &tokenizer, View piece, Workbench &bench)
      : tokenizer(tokenizer), piece(piece), best(bench.best) {}

  Status run(Array<uint32_t> &ids) {
    best.clear();
    if (!best.resize(piece.size + 1, {0, SIZE_MAX, none}))
      return outOfMemory();
    for (size_t at = 0; at < piece.size; at += bytesOf(piece.data[at]))
      if (!from(at))
        return say(MILLE_TEXT_UNSUPPORTED,
                   "a character is unknown but the vocabulary has no unknown "
                   "token");
    backwards();
    for (size_t i = cuts.size(); i-- > 1;)
      if (Status status = token(piece.cut(cuts[i], cuts[i - 1]), ids))
        return status;
    return cuts.lost() ? outOfMemory() : MILLE_TEXT_OK;
  }

private:
  void offer(size_t begin, size_t end, uint32_t id, double score) {
    Workbench::Step &step = best[end];
    if (step.begin == SIZE_MAX || score > step.score)
      step = {score, begin, id};
  }
  bool from(size_t at) {
    unsigned bytes = bytesOf(piece.data[at]);
    double score = best[at].score;
    bool single = false;
    uint32_t node = 0;
    for (size_t end = at; end < piece.size;) {
      node = tokenizer.pieces.child(node, piece.data[end++]);
      if (!node)
        break;
      uint32_t id = tokenizer.pieces.valueOf(node);
      // A token of a damaged vocabulary may end within a character.
      bool whole =
          end == piece.size || (uint8_t(piece.data[end]) & 0xc0) != 0x80;
      if (id == none || !whole)
        continue;
      offer(at, end, id, score + tokenizer.scores[id]);
      single = single || end == at + bytes;
    }
    if (single)
      return true;
    offer(at, at + bytes, tokenizer.unknown,
          score + (tokenizer.leastScore - unknownPenalty));
    return tokenizer.unknown != none;
  }
  // Collects the beginnings of tokens, from the end of the piece on. Adjacent
  // unknown tokens count as one.
  void backwards() {
    cuts.clear();
    cuts.push(piece.size);
    bool open = false; // the last cut is within unknown characters
    for (size_t end = piece.size; end;) {
      const Workbench::Step &step = best[end];
      bool unknown = tokenizer.has(fuseUnknown) && tokenizer.unknown != none &&
                     step.id == tokenizer.unknown;
      if (unknown && open && !cuts.empty())
        cuts.back() = step.begin;
      else
        cuts.push(step.begin);
      open = unknown;
      end = step.begin;
    }
  }
  Status token(View text, Array<uint32_t> &ids) {
    uint32_t id = tokenizer.lookup.find(text);
    if (id == none && tokenizer.has(byteFallback) &&
        asByteTokens(tokenizer, text, ids))
      return MILLE_TEXT_OK;
    ids.push(id == none ? tokenizer.unknown : id);
    return MILLE_TEXT_OK;
  }

  const mille_text &tokenizer;
  View piece;
  Array<Workbench::Step> &best;
  Array<size_t> cuts;
};

} // namespace

Status unigram(const mille_text &tokenizer, View piece, Workbench &bench,
               Array<uint32_t> &ids) {
  return Lattice(tokenizer, piece, bench).run(ids);
}

} // namespace mille::text

// The pre-tokenizers of `tokenizers` as two kinds of steps: one cuts at matches
// of a pattern, one replaces spaces or puts them before a piece.
// Must not cut within a character.
#include "text/Split.h"

namespace mille::text {
namespace {

class Splitter {
public:
  Splitter(View text, const ReadyStep &step, Matching &matching,
           Array<Piece> &out)
      : text(text), step(step), matching(matching), out(out) {}

  // The parts of one piece: matches alternate with the texts between them.
  Status split(const Piece &piece) {
    View here = text.cut(piece.begin, piece.end);
    bool inverted = step.number >> 8 & 1;
    mine = out.size();
    beforeMatched = false;
    Status status = MILLE_TEXT_OK;
    size_t at = 0, begin = 0, end = 0;
    Matches matches(matching, step.pattern, here);
    while (matches.next(begin, end, status)) {
      if (at < begin)
        part(piece, at, begin, inverted);
      part(piece, begin, end, !inverted);
      at = end;
    }
    if (status)
      return status;
    if (at < here.size)
      part(piece, at, here.size, inverted);
    dropEmpty();
    return out.lost() ? outOfMemory() : MILLE_TEXT_OK;
  }

private:
  void push(const Piece &piece, size_t begin, size_t end) {
    out.push({piece.begin + begin, piece.begin + end, none,
              piece.atStart && begin == 0});
  }
  void part(const Piece &piece, size_t begin, size_t end, bool matched) {
    bool first = out.size() == mine;
    bool joins = false;
    switch (step.number & 0xff) {
    case isolated:
      break;
    case removed:
      if (matched)
        return;
      break;
    case contiguous:
      joins = matched == beforeMatched;
      break;
    case withPrevious:
      joins = matched && !beforeMatched;
      break;
    case withNext: // a match waits for what follows it, if that is none
      joins = !matched && beforeMatched;
      break;
    }
    beforeMatched = matched;
    if (joins && !first)
      out.back().end = piece.begin + end;
    else
      push(piece, begin, end);
  }
  // Removes the empty pieces that empty matches leave.
  void dropEmpty() {
    size_t kept = mine;
    for (size_t i = mine; i < out.size(); ++i)
      if (out[i].begin < out[i].end)
        out[kept++] = out[i];
    out.shrink(kept);
  }

  View text;
  const ReadyStep &step;
  Matching &matching;
  Array<Piece> &out;
  size_t mine = 0;
  bool beforeMatched = false;
};

// Rewrites every piece into `into`.
class Respacer {
public:
  Respacer(View text, const ReadyStep &step, Array<char> &into,
           Array<Piece> &out)
      : text(text), step(step), into(into), out(out) {}

  // Each space becomes the character, and one more may be put before.
  void metaspace(const Piece &piece) {
    View here = text.cut(piece.begin, piece.end);
    size_t begin = into.size();
    unsigned scheme = step.number & 0xff;
    bool starts = here.startsWith(step.first) || here.startsWith({" ", 1});
    if (!starts && (scheme == always || (scheme == first && piece.atStart)))
      append(into, step.first);
    size_t at = 0;
    for (size_t space; (space = here.find({" ", 1}, at)) != SIZE_MAX;) {
      append(into, here.cut(at, space));
      append(into, step.first);
      at = space + 1;
    }
    append(into, here.from(at));
    if (step.number >> 8 & 1)
      cut(begin, piece.atStart);
    else
      out.push({begin, into.size(), none, piece.atStart});
  }

  void prefixSpace(const Piece &piece) {
    View here = text.cut(piece.begin, piece.end);
    size_t begin = into.size();
    if (!here.startsWith({" ", 1}))
      into.push(' ');
    append(into, here);
    out.push({begin, into.size(), none, piece.atStart});
  }

private:
  // Before every character that stands for a space.
  void cut(size_t begin, bool atStart) {
    if (into.lost())
      return;
    View all(into);
    size_t from = begin;
    auto push = [&](size_t to) {
      if (from < to)
        out.push({from, to, none, atStart && from == begin});
      from = to;
    };
    for (size_t at = begin; (at = all.find(step.first, at)) != SIZE_MAX;
         at += step.first.size)
      push(at);
    push(all.size);
  }

  View text;
  const ReadyStep &step;
  Array<char> &into;
  Array<Piece> &out;
};

} // namespace

static Status take(const ReadyStep &step, Array<char> &text,
                   Array<Piece> &pieces, Matching &matching) {
  Array<Piece> out;
  if (step.kind == splitStep) {
    Splitter splitter(text, step, matching, out);
    for (const Piece &piece : pieces)
      if (Status status = splitter.split(piece))
        return status;
  } else {
    Array<char> into;
    Respacer respacer(text, step, into, out);
    for (const Piece &piece : pieces)
      step.kind == metaspaceStep ? respacer.metaspace(piece)
                                 : respacer.prefixSpace(piece);
    if (into.lost())
      return outOfMemory();
    text.swap(into);
  }
  pieces.swap(out);
  return pieces.lost() ? outOfMemory() : MILLE_TEXT_OK;
}

Status splitPieces(const mille_text &tokenizer, Array<char> &text,
                   Array<Piece> &pieces, Matching &matching) {
  for (size_t i = 0; i < tokenizer.stepCount; ++i) {
    const ReadyStep &step = tokenizer.steps[i];
    if (step.kind < splitStep || step.kind >= decodeBytesStep)
      continue;
    if (Status status = take(step, text, pieces, matching))
      return status;
  }
  return MILLE_TEXT_OK;
}

} // namespace mille::text

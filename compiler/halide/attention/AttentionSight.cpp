// Attention's operands, where a task lies in them, and who sees whom.
#include "compiler/halide/Elements.h"
#include "compiler/halide/Functions.h"
#include "compiler/halide/OneRounding.h"
#include "compiler/halide/attention/AttentionPipe.h"

using namespace Halide;

namespace mille {
namespace {

using Operand = AttentionOperand;

const char *nameOf(Operand operand) {
  switch (operand) {
  case Operand::keyMask:
    return "key_mask";
  case Operand::keyHeadBias:
    return "key_head_bias";
  case Operand::rotation:
    return "rotation";
  case Operand::queryScale:
    return "query_scale";
  case Operand::headScale:
    return "head_scale";
  case Operand::sink:
    return "sink";
  case Operand::bias:
    return "bias";
  case Operand::contentQuery:
    return "content_query";
  case Operand::contentKey:
    return "content_key";
  case Operand::segments:
    return "segments";
  case Operand::prefix:
    return "prefix";
  }
  return "";
}

} // namespace

//===-- Operands ------------------------------------------------------------//

void AttentionPipe::declareOperands() {
  query = bufferOf(s.query, names("query"));
  key = bufferOf(s.key, names("key"));
  value = bufferOf(s.value, names("value"));
  pipe.arguments = {query, key, value};
  for (int i = 0; i < attentionOperands; ++i) {
    if (!s.optional[i])
      continue;
    Operand operand = Operand(i);
    optional[i] = s.optional[i]->element == Element::i32
                      ? ImageParam(Int(32), 1, names(nameOf(operand)))
                      : bufferOf(*s.optional[i], names(nameOf(operand)));
    pipe.arguments.push_back(optional[i]);
  }
  if (isLinear()) {
    decay = bufferOf(*s.decay, names("decay"));
    pipe.arguments.insert(pipe.arguments.end(), {decay, queries});
  } else {
    pipe.arguments.insert(pipe.arguments.end(), {queries, keyCount, firstOf});
  }
  keys = isLinear() ? Expr(queries) : Expr(keyCount);
  first = isLinear() ? Expr(0) : Expr(firstOf);
}

// The task's rows lie in one sequence; query blocks count from its first row.
void AttentionPipe::placeTask() {
  pipe.out = make("out");
  head = h;
  kvHead =
      s.kvHeads == 1 && !device ? Expr(0) : h / (int(s.group()) / together);
  if (device) {
    placeSequences();
    return;
  }
  // Nothing is stored by this: it makes the out's range known to what follows.
  pipe.out(d, m, h) = undef(typeOf(spec.out.element));
  auto rows = pipe.out.output_buffer().dim(1);
  row0 = rows.min();
  rowLast = row0 + rows.extent() - 1;
  sequence = row0 / queries;
  keyRow = sequence * keys;
  position0 = first - sequence * queries;
}

// In its sequence.
Expr AttentionPipe::ownKvHead() const {
  return device ? kvHead % int(s.kvHeads) : kvHead;
}

// Of a task's place, where the heads that are together lie row by row: its row.
// What is past the last row repeats it.
Expr AttentionPipe::rowAt(const Expr &place) const {
  return min(row0 + place / together, rowLast);
}
Expr AttentionPipe::queryRow(const Expr &block, const Expr &lane) const {
  return rowAt(block * queryBlock + lane);
}
// Once for all keys.
void AttentionPipe::findLaneRows() {
  if (together == 1 || !s.hidesPairs())
    return;
  laneRows = make("lane_rows");
  laneRows(q, b) = queryRow(b, q);
}
Expr AttentionPipe::headOf(const Expr &lane) const {
  return together == 1 ? head
                       : h * together + (b * queryBlock + lane) % together;
}

//===-- Who sees whom -------------------------------------------------------//

// Keys that a query at a position may see; both ends grow with the position.
AttentionPipe::Range AttentionPipe::seenFrom(const Expr &position) const {
  Range range;
  auto atLeast = [&](const Expr &low) {
    range.first = range.first.defined() ? max(range.first, low) : low;
  };
  auto atMost = [&](const Expr &high) {
    range.last = range.last.defined() ? min(range.last, high) : high;
  };
  if (s.causal && s.has(Operand::prefix))
    atMost(max(position, at(Operand::prefix)(sequence) - 1));
  else if (s.causal)
    atMost(position);
  if (s.windowRight)
    atMost(position + int(s.windowRight - 1));
  if (s.windowLeft)
    atLeast(position - int(s.windowLeft - 1));
  if (s.chunk) {
    Expr from = position / int(s.chunk) * int(s.chunk);
    atLeast(from);
    atMost(from + int(s.chunk - 1));
  }
  return range;
}

// Whether the mask shows a key.
Expr AttentionPipe::isKept(const Expr &kv) const {
  return at(Operand::keyMask)(keyRow + kv) != 0;
}

// Keys of a tile that are past the last are hidden from all.
Expr AttentionPipe::keyOfTile(const Expr &tile, const Expr &i) const {
  return unsafe_promise_clamped(keyAt(e) + tile * keyTile + i, 0,
                                tileCount() * keyTile - 1);
}

// What is added to all scores of a key, in powers of two: 0 or, where weights
// take it in, the step of its value. It says, too, that a key is hidden from all
// queries.
void AttentionPipe::findKeyTerms() {
  Expr kv = min(u, keys - 1), term = 0.0f;
  if (integral) {
    Expr inverse = valueInverse(kv, h);
    term =
        select(inverse > 0.0f, multiplied(logOf(inverse), float(-log2e)), 0.0f);
  }
  keyTerm = make("key_term");
  keyTerm(u, h) = select(isSomeKey(u), term, hidden);
}

// A score of a key with this term, where something beside may be no number.
Expr AttentionPipe::hiddenWith(const Expr &term, const Expr &score) {
  return select(term > hidden, score, hidden);
}

// Whether a place, of which whole tiles have some past the last, holds a key
// that is kept.
Expr AttentionPipe::isSomeKey(const Expr &place) const {
  Expr is = place < keys;
  return s.has(Operand::keyMask) ? is && isKept(min(place, keys - 1)) : is;
}

// Whether lane q of block b sees a key.
Expr AttentionPipe::isSeen(const Expr &kv) const {
  Expr seen = Internal::const_true();
  Expr row = laneRows.defined()
                 ? unsafe_promise_clamped(laneRows(q, b), row0, rowLast)
                 : queryRow(b, q);
  Range range = seenFrom(position0 + row);
  if (range.first.defined())
    seen = kv >= range.first;
  if (range.last.defined())
    seen = seen && kv <= range.last;
  if (s.has(Operand::segments)) {
    const ImageParam &segments = at(Operand::segments);
    seen = seen && segments(row) == segments(keyRow + kv);
  }
  if (s.has(Operand::keyMask) && !keyTerm.defined())
    seen = seen && isKept(kv);
  return seen;
}

// One bound, of which loops are made: several would be conditions in them.
Expr AttentionPipe::lastOf(const Range &range) const {
  if (!stretched || !range.last.defined())
    return stretched ? keys - 1 : range.last;
  return min(range.last, keys - 1);
}
// Where there is a value that is no number all keys are for the careful ones.
Expr AttentionPipe::endBySound(const Expr &last, bool careful) const {
  if (!soundKeys.defined())
    return last;
  Expr end = (careful ? keys - soundKeys(kvHead) : soundKeys(kvHead)) - 1;
  return last.defined() ? min(last, end) : end;
}
// Tiles of stretch e that hold a key that some query of a block sees.
RDom AttentionPipe::tilesOf(const char *name, const Expr &block) const {
  RDom r(0, tilesTogether(), names(name));
  restrictTiles(r, r, seenByBlock(block));
  return r;
}
void AttentionPipe::restrictTiles(RDom &r, const Expr &tile,
                                  const Range &seen) const {
  Expr kv = keyAt(e) + tile * keyTile, last = lastOf(seen);
  if (seen.first.defined())
    r.where(kv + (keyTile - 1) >= seen.first);
  if (last.defined())
    r.where(kv <= last);
}
// Keys that some query of a block sees.
AttentionPipe::Range AttentionPipe::seenByBlock(const Expr &block) const {
  return {seenFrom(position0 + queryRow(block, 0)).first,
          seenFrom(position0 + queryRow(block, queryBlock - 1)).last};
}

} // namespace mille

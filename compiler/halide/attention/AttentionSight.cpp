// Attention's operands, the place of a task in them, and which queries see
// which keys. Must not compute scores.
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
  auto held = [&](BufferSpec of) { // bytes that steps lie among
    if (inBytes)
      of.element = Element::u8;
    return of;
  };
  query = bufferOf(s.query, names("query"));
  key = bufferOf(held(s.key), names("key"));
  value = bufferOf(held(s.value), names("value"));
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
    pipe.arguments.insert(pipe.arguments.end(),
                          {queries, keyCount, firstPosition});
  }
  if (s.past && device) {
    past = ImageParam(Int(32), 1, names("past"));
    pipe.arguments.push_back(past);
  }
  keys = isLinear() ? Expr(queries) : Expr(keyCount);
  first = isLinear() ? Expr(0) : Expr(firstPosition);
}

// Which panels lie in the memory of other sequences.
void AttentionPipe::takeShifts() {
  shifts = ImageParam(Int(32), 1, names("shifts"));
  pipe.arguments.insert(pipe.arguments.end() - 3, shifts);
}

// The rows of a task lie in one sequence; its query blocks count from its first
// row.
void AttentionPipe::placeTask() {
  pipe.out = make("out");
  head = h;
  kvHead = s.kvHeads == 1 && !device ? Expr(0)
                                     : h / (int(s.group()) / headsTogether);
  if (device) {
    placeSequences();
    return;
  }
  // This stores nothing: it defines the range of the out for what follows.
  if (few)
    pipe.out(d, m, h, e) = Tuple(undef<float>(), undef<float>());
  else
    pipe.out(d, m, h) = undef(typeOf(spec.out.element));
  auto rows = outBuffer().dim(1);
  row0 = rows.min();
  rowLast = row0 + rows.extent() - 1;
  sequence = row0 / queries;
  keyRow = sequence * keys;
  position0 = first - sequence * queries;
}

// The key head of h, counted in its sequence.
Expr AttentionPipe::kvHeadInSequence() const {
  return device ? kvHead % int(s.kvHeads) : kvHead;
}

// The row of a place in the task, where heads that are together lie row by row.
// Places past the last row repeat it.
Expr AttentionPipe::rowAt(const Expr &place) const {
  return min(row0 + place / headsTogether, rowLast);
}
Expr AttentionPipe::queryRow(const Expr &block, const Expr &lane) const {
  return rowAt(block * queryBlock + lane);
}
// The rows of lanes are found once for all keys.
void AttentionPipe::findLaneRows() {
  if (headsTogether == 1 || !s.hidesPairs())
    return;
  laneRows = make("lane_rows");
  laneRows(q, b) = queryRow(b, q);
}
Expr AttentionPipe::headOf(const Expr &lane) const {
  return headsTogether == 1
             ? head
             : h * headsTogether + (b * queryBlock + lane) % headsTogether;
}

// Neighbours of panels: f16 is widened before it is multiplied.
static int pairOf(Element element, int64_t pair) {
  return element == Element::f16 ? 1 : int(pair);
}

// How much further on than in its sequence's memory a row of panels lies, where
// the rows have so many columns.
Expr AttentionPipe::shifted(const Expr &kv, const ImageParam &held,
                            int64_t columns) const {
  constexpr int most = 1 << 20; // sequences of a session, less than
  Expr sequences =
      unsafe_promise_clamped(shifts(kv / MILLE_PANEL_ROWS), -most, most);
  return sequences * (held.dim(1).extent() * int(columns));
}

// An element of a key or a value; a sequence's keys in panels are one row of
// places. `beside`: any row of the panel; where it is the same for a loop over
// rows, the panel is looked up once.
Expr AttentionPipe::keyElement(const Expr &column, const Expr &kv,
                               const Expr &head) const {
  const int size = int(s.headDim);
  if (!s.panels)
    return key(int(s.keyOffset) + head * size + column, keyRow + kv);
  if (valueIsKey(s))
    return elementOfValues(key, column, kv, head, kv);
  const int pair =
      pairOf(s.key.element, mille_key_pair(bytesOf(s.key.element), size));
  Expr rows = key.dim(1).extent();
  Expr panel = kv / MILLE_PANEL_ROWS, row = kv % MILLE_PANEL_ROWS;
  Expr words = panel * (size / pair) + column / pair;
  return key(head * (rows * size) + words * (MILLE_PANEL_ROWS * pair) +
                 row * pair + column % pair +
                 shifted(kv, key, s.kvHeads * size),
             0);
}
Expr AttentionPipe::valueElement(const Expr &column, const Expr &kv,
                                 const Expr &head, const Expr &beside) const {
  if (!s.panels)
    return value(int(s.valueOffset) + head * int(s.valueDim) + column,
                 keyRow + kv);
  return elementOfValues(value, column, kv, head, beside);
}
// An element of panels of columns.
Expr AttentionPipe::elementOfValues(const ImageParam &held, const Expr &column,
                                    const Expr &kv, const Expr &head,
                                    const Expr &beside) const {
  const int size = int(columnsOfValue(s));
  const int pair =
      pairOf(s.value.element, mille_value_pair(bytesOf(s.value.element)));
  return held(head * (held.dim(1).extent() * size) +
                  valuePlace(column, kv, pair) +
                  shifted(beside, held, s.kvHeads * size),
              0);
}
// The element of a head's values. A column's panel is a factor of what is not
// constant: Halide would make a remainder of column - panel * columns, and not
// see that a vector of columns lies in one panel.
Expr AttentionPipe::valuePlace(const Expr &column, const Expr &kv,
                               int pair) const {
  const int columns = int(mille_panel_columns(columnsOfValue(s)));
  Expr rows = value.dim(1).extent();
  Expr place = kv / pair * (pair * columns) + column * pair + kv % pair;
  if (columns == columnsOfValue(s))
    return place;
  return place + column / columns * ((rows - pair) * columns);
}

//===-- Who sees whom -------------------------------------------------------//

// The keys that a query at a position may see; both ends grow with the
// position.
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
  else if (past.defined()) // all keys of another stream
    atMost(past(sequence) - 1);
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

// Key i of a tile; keys past the last are hidden from all queries.
Expr AttentionPipe::keyOfTile(const Expr &tile, const Expr &i) const {
  return unsafe_promise_clamped(keyAt(e) + tile * keyTile + i, 0,
                                tileCount() * keyTile - 1);
}

// What is added to all scores of a key, in powers of two: 0 or, where weights
// take it in, the step of its value. It says, too, that a key is hidden from
// all queries.
void AttentionPipe::findKeyTerms() {
  Expr kv = min(u, keys - 1), term = 0.0f;
  if (integral) {
    // Of a NaN there is no term: it comes with the weights' shares.
    Expr inverse = valueInverse(kv, h), bits = reinterpret<int32_t>(inverse);
    term = select(bits > 0 && bits < 0x7f800000,
                  multiplied(logOf(inverse), float(-log2e)), 0.0f);
  }
  keyTerm = make("key_term");
  keyTerm(u, h) = select(isSomeKey(u), term, hidden);
}

// The score of a key with this term; where the key is hidden, the constant,
// since the score may be NaN.
Expr AttentionPipe::hiddenWith(const Expr &term, const Expr &score) {
  return select(term > hidden, score, hidden);
}

// Whether a place of a whole tile holds a key, and the mask shows it: tiles may
// reach past the last key.
Expr AttentionPipe::isSomeKey(const Expr &place) const {
  Expr is = place < keys;
  if (!s.has(Operand::keyMask))
    return is;
  // What follows the mask of a state may be read.
  return is && isKept(s.panels ? place : min(place, keys - 1));
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
    Expr own = keyRow + position0 + row; // the query among the keys
    if (past.defined())                  // a state may have no room for padding
      own = min(own, keyRow + keys - 1);
    if (past.defined() && device) // which reads there how many are held
      own = max(own, keyRow);
    seen = seen && segments(own) == segments(keyRow + kv);
  }
  if (s.has(Operand::keyMask) && !keyTerm.defined())
    seen = seen && isKept(kv);
  return seen;
}

// The last key of a range as one bound, which becomes the end of a loop;
// several bounds would become conditions inside of it.
Expr AttentionPipe::lastOf(const Range &range) const {
  if (!stretched || !range.last.defined())
    return stretched ? keys - 1 : range.last;
  return min(range.last, keys - 1);
}
// The end of a loop over keys that tests weights (careful) or does not: where a
// value is not a number, the careful loop has all keys and the other has none.
Expr AttentionPipe::endBySound(const Expr &last, bool careful) const {
  if (!soundKeys.defined())
    return last;
  Expr sound = soundKeys(few ? Expr(e) : Expr(0), kvHead);
  Expr end = (careful ? keys - sound : sound) - 1;
  return last.defined() ? min(last, end) : end;
}
// The tiles of stretch e that hold a key that some query of a block sees.
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
// The keys that some query of a block sees.
AttentionPipe::Range AttentionPipe::seenByBlock(const Expr &block) const {
  return {seenFrom(position0 + queryRow(block, 0)).first,
          seenFrom(position0 + queryRow(block, queryBlock - 1)).last};
}

} // namespace mille

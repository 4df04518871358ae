// Attention to a state's bytes: keys and values are integers from -127 to 127
// with a step for each row of a head (StatePanels.h). Queries are rounded to
// bytes too, each with a step of its own, so that a score is a sum of products
// of bytes, which is exact in any order. A weight is multiplied by the step of
// its value, which mixes the value's integers in f32.
// Must see nothing of a hidden key: its score is replaced, and its weight, 0,
// is not multiplied by a step that may be NaN.
#include "compiler/halide/Elements.h"
#include "compiler/halide/Functions.h"
#include "compiler/halide/OneRounding.h"
#include "compiler/halide/attention/AttentionPipe.h"

using namespace Halide;

namespace mille {
namespace {

constexpr int group = MILLE_BYTE_GROUP, panelRows = MILLE_PANEL_ROWS;
constexpr int keyOffset = 128; // added to a key's integers

// The f32 at a byte of a buffer.
Expr numberAt(const ImageParam &bytes, const Expr &at) {
  return reinterpret<float>(concat_bits(
      {bytes(at, 0), bytes(at + 1, 0), bytes(at + 2, 0), bytes(at + 3, 0)}));
}

} // namespace

// Where the panel of 16 keys that holds `kv` begins, and the same of values in
// the panel of columns `panel`.
Expr AttentionPipe::keyPanel(const Expr &kv, const Expr &head) const {
  const int each = int(mille_key_bytes(s.headDim));
  Expr rows = key.dim(1).extent();
  return head * (rows * each) + kv / panelRows * (panelRows * each);
}
Expr AttentionPipe::valuePanel(const Expr &panel, const Expr &kv,
                               const Expr &head) const {
  const int all = int(mille_value_bytes(s.valueDim)),
            each = int(mille_panel_columns(s.valueDim)) + MILLE_STEP_BYTES;
  Expr rows = value.dim(1).extent(), first = head * (rows * all);
  if (all > each)
    first += panel * (rows * each);
  return first + kv / panelRows * (panelRows * each);
}

Expr AttentionPipe::keyByte(const Expr &column, const Expr &kv,
                            const Expr &head) const {
  return key(keyPanel(kv, head) + column / group * (panelRows * group) +
                 kv % panelRows * group + column % group,
             0);
}
Expr AttentionPipe::valueByte(const Expr &column, const Expr &kv,
                              const Expr &head) const {
  const int columns = int(mille_panel_columns(s.valueDim));
  Expr panel = 0, of = column;
  if (columns < s.valueDim) {
    panel = column / columns;
    of = column % columns;
  }
  Expr byte = value(valuePanel(panel, kv, head) + panelRows * MILLE_STEP_BYTES +
                        kv % panelRows * columns + of,
                    0);
  return reinterpret<int8_t>(byte);
}

// The step of a key, and of its value. Few queries read them where they lie,
// beside the bytes, with keys in lanes; others gather those of all keys first.
Expr AttentionPipe::stepOfKey(const Expr &kv, const Expr &head) {
  auto step = [&](const Expr &kv, const Expr &head) {
    return numberAt(key, keyPanel(kv, head) + panelRows * int(s.headDim) +
                             kv % panelRows * MILLE_STEP_BYTES);
  };
  if (few)
    return step(kv, head);
  keyStep = make("key_step");
  keyStep(u, h) = step(u, h);
  return keyStep(kv, head);
}
Expr AttentionPipe::stepOfValue(const Expr &kv, const Expr &head) {
  auto step = [&](const Expr &kv, const Expr &head) {
    return numberAt(value, valuePanel(0, kv, head) +
                               kv % panelRows * MILLE_STEP_BYTES);
  };
  if (few)
    return step(kv, head);
  valueStep = make("value_step");
  valueStep(u, h) = step(u, h);
  return valueStep(kv, head);
}

void AttentionPipe::scoreBytes() {
  dots = make("dots");
  RDom rd(0, group, 0, int(s.headDim / group), names("rd"));
  depthHalf = rd.x;
  depth = rd.y;
  dots(q, ki, ko, e, b, h) = queryTotal(q, b, h) * -keyOffset;
  dots(q, ki, ko, e, b, h) +=
      cast<int32_t>(keyByte(rd.y * group + rd.x, placeOf(ko), kvHead)) *
      cast<int32_t>(queryWords.parts(rd.x, q, rd.y, b, h));
  Expr score =
      multiplied(multiplied(cast<float>(dotHere()), queryStep(q, b, h)),
                 stepOfKey(few ? placeOf(ko) : keyOfTile(ko, ki), kvHead));
  Expr others = Internal::simplify(biasesOf(keyOf(ko)));
  if (s.softcap > 0)
    score = capped(score, others);
  else if (!Internal::is_const(others))
    score = added(score, others);
  keepScores(score);
}

// [column, query of tile, tile, stretch, head]
void AttentionPipe::mixBytes() {
  shares = make("shares");
  Expr weight = weights(laneOf(q), ki, ko, e, t / tiles(), h);
  Expr kv = keyAt(e) + ko * keyTile + ki;
  Expr step = stepOfValue(few ? kv : keyOfTile(ko, ki), kvHead);
  shares(q, ki, ko, t, e, h) =
      select(weight != 0.0f, multiplied(weight, step), 0.0f);
  mixed = make("mixed");
  mixed(d, q, t, e, h) = mixedBefore();
  Range from = seenByTile(0), to = seenByTile(mixedTile.rows - 1);
  RDom r(0, keyTile, 0, tilesTogether(), names("r2"));
  restrictTiles(r, r.y, {from.first, to.last});
  Expr at = keyAt(e) + r.y * keyTile + r.x;
  if (from.first.defined())
    r.where(at >= from.first);
  r.where(at <= (to.last.defined() ? min(to.last, keys - 1) : keys - 1));
  mixed(d, q, t, e, h) +=
      shares(q, r.x, r.y, t, e, h) * cast<float>(valueByte(d, at, kvHead));
  mixedKeys = {r.x};
  mixedTiles = {r.y};
}

//===-- Schedule ------------------------------------------------------------//

// Of few queries, columns are in lanes.
void AttentionPipe::scheduleQueryBytes() {
  if (!few)
    return scheduleQueryIntegers();
  const int width = lanesFor(s.headDim, V), words = int(s.headDim) / group;
  for (Func f : {queryMost, queryStep, queryInverse, queryTotal})
    oncePerBlock(f);
  queryMost.update().atomic().vectorize(queryColumn, width).unroll(q);
  queryTotal.update().atomic().vectorize(queryByte, width).unroll(q);
  queryWords.words.compute_at(pipe.out, block)
      .bound_extent(q, queryBlock)
      .bound_extent(d, words)
      .reorder_storage(d, q, b, h)
      .reorder(d, q)
      .vectorize(d, lanesFor(words, V))
      .store_in(MemoryType::Stack);
  queryWords.parts.compute_at(pipe.out, block)
      .bound_extent(half, group)
      .bound_extent(q, queryBlock)
      .bound_extent(d, words)
      .reorder_storage(half, d, q, b, h)
      .store_in(MemoryType::Stack);
}

// Beside what `mixed` of f32 has.
void AttentionPipe::scheduleShares() {
  for (Func f : {keyStep, valueStep})
    if (f.defined()) {
      perKeyHead(f);
      f.vectorize(u, V, TailStrategy::RoundUp);
    }
  shares.compute_at(mixed, mixedTiles[0])
      .bound_extent(q, mixedTile.rows)
      .bound_extent(ki, keyTile)
      .store_in(MemoryType::Stack);
  if (few)
    shares.reorder_storage(ki, q, ko, t, e, h)
        .reorder(ki, q)
        .vectorize(ki, V)
        .unroll(ki)
        .unroll(q);
  else
    shares.vectorize(q, std::min(V, mixedTile.rows)).unroll(ki);
}

} // namespace mille

// Attention by stretches of keys (online softmax): scores and weights take the
// memory of one stretch, however many keys there are. For each query a stretch
// hands three values to the next: the largest score, the sum of weights, the
// mixed values.
//
// Stretches are counted from the first key that the mask shows, so that
// padding, removed or added, moves no key into another stretch; a stretch of
// hidden keys multiplies by 1 and adds 0. Must not let a bit depend on padding.
#include "compiler/halide/Functions.h"
#include "compiler/halide/OneRounding.h"
#include "compiler/halide/attention/AttentionPipe.h"
#include "compiler/halide/passes/OneMemory.h"

using namespace Halide;
using namespace Halide::Internal;

namespace mille {
namespace {

// Puts a carried function into the memory of the function that reads it: its
// loads and stores get that function's name.
class CarryOver : public OneMemory {
public:
  explicit CarryOver(const std::vector<Carried> &all) {
    for (const Carried &c : all)
      memoryOf[c.after.name()] = c.before.name();
  }

private:
  using OneMemory::visit;

  Stmt visit(const Store *op) override {
    return Store::make(nameOf(op->name), mutate(op->value), mutate(op->index),
                       op->param, mutate(op->predicate), op->alignment);
  }
};

} // namespace

void AttentionPipe::takeStretches() {
  stretched = true;
  findFirstKey();
}
void AttentionPipe::findFirstKey() {
  if (!s.has(Operand::keyMask) || firstKept.defined())
    return;
  RDom r(0, keys, names("kept_key"));
  keptKey = r;
  firstKept = make("first_kept");
  firstKept() = keys;
  firstKept() = min(firstKept(), select(isKept(r), r, keys));
  firstKey = clamp(firstKept(), 0, keys - 1) / keyUnitOf(s) * keyUnitOf(s);
}

Expr AttentionPipe::tileCount() const { return (keys + keyTile - 1) / keyTile; }

// The number of tiles whose scores are in memory at a time. Those of few
// queries have room for a whole stretch, which is a number that is known.
Expr AttentionPipe::tilesTogether() const {
  if (few)
    return stretchKeys / keyTile;
  return stretched ? min(tileCount(), stretchKeys / keyTile) : tileCount();
}

// The first key of a stretch.
Expr AttentionPipe::keyAt(const Expr &stretch) const {
  return stretched ? firstKey + stretch * stretchKeys : Expr(0);
}

// A block has at least one stretch, even where it sees no key.
Expr AttentionPipe::firstStretch(const Expr &block) const {
  Expr from = seenByBlock(block).first;
  if (!from.defined())
    return 0;
  return clamp((from - firstKey) / stretchKeys, 0,
               (keys - 1 - firstKey) / stretchKeys);
}
Expr AttentionPipe::lastStretch(const Expr &block) const {
  Expr to = seenByBlock(block).last;
  Expr last = to.defined() ? min(to, keys - 1) : keys - 1;
  return max((last - firstKey) / stretchKeys, firstStretch(block));
}
Expr AttentionPipe::atFirst(const Expr &start, const Expr &later) const {
  return select(e == firstStretch(b), start, later);
}

Func AttentionPipe::carriedBefore(Func after, const std::vector<Var> &place) {
  Carried carry{make((after.name() + "_found").c_str()), after};
  carry.before(place) = undef<float>();
  carried.push_back(carry);
  return carry.before;
}

// A later stretch may raise the largest score; then `factor` scales down the
// sums of earlier stretches. Where stretches are apart, `top` is the stretch's
// own, and `ownFactor` scales down what the stretch adds.
void AttentionPipe::carryTop() {
  if (isApart()) {
    top = stretchTop;
    if (few)
      return;
  }
  factor = make("factor");
  Func &most = isApart() ? highest : top;
  most = make(isApart() ? "highest" : "top");
  Expr before = atFirst(sinkScore(), carriedBefore(most, {q, b, h})(q, b, h));
  Expr current = stretchTop(q, e, b, h);
  if (lateFactor.defined())
    current *= lateFactor;
  factor(q, e, b, h) = exp2Weight(before - max(before, current));
  // Factors are at most 1, so the condition always holds: it makes Halide
  // compute them before `top` overwrites their operand.
  most(q, e, b, h) =
      select(factor(q, e, b, h) < 2.0f, max(before, current), before);
  if (!isApart())
    return;
  ownFactor = make("own_factor");
  ownFactor(q, e, b, h) = exp2Weight(current - most(q, e, b, h));
}

// What earlier stretches gave, and what this one adds. Rounded as the join
// rounds.
Expr AttentionPipe::joined(const Expr &before, const Expr &factor,
                           const Expr &own, const Expr &ownFactor) {
  return added(multiplied(before, factor), multiplied(own, ownFactor));
}

// Where the sum of weights starts: at the weight of the sink.
Expr AttentionPipe::sumBefore() {
  Expr ofSink =
      s.has(Operand::sink) ? exp2Weight(sinkScore() - top(q, e, b, h)) : 0.0f;
  if (!stretched)
    return ofSink;
  sum = make("sum");
  if (isApart())
    return 0.0f;
  return atFirst(ofSink,
                 carriedBefore(sum, {q, b, h})(q, b, h) * factor(q, e, b, h));
}

// The sum of this and all earlier stretches; a sink is where the largest score
// starts, and its weight there is 1.
Expr AttentionPipe::joinedSum() {
  total = make("total");
  Expr before = atFirst(s.has(Operand::sink) ? 1.0f : 0.0f,
                        carriedBefore(total, {q, b, h})(q, b, h));
  total(q, e, b, h) = joined(before, factor(q, e, b, h), sum(q, e, b, h),
                             ownFactor(q, e, b, h));
  return total(q, e, b, h);
}
// The same of mixed values.
Expr AttentionPipe::keptWith(const Expr &value, const Expr &column,
                             const Expr &lane, const Expr &tile,
                             const Expr &stretch, const Expr &of) {
  Expr block = tile / tiles(), row = laneOf(lane, tile);
  Expr before = select(stretch == firstStretch(block), 0.0f,
                       carriedBefore(kept, {d, q, t, b, h})(
                           column, lane, tile % tiles(), block, of));
  return joined(before, factor(row, stretch, block, of), value,
                ownFactor(row, stretch, block, of));
}

Expr AttentionPipe::mixedBefore() {
  if (!stretched || isApart())
    return 0.0f;
  kept = make("kept");
  Expr block = t / tiles();
  Expr before =
      carriedBefore(kept, {d, q, t, b, h})(d, q, t % tiles(), block, h);
  if (!isLinear())
    before *= factor(laneOf(q), e, block, h);
  return select(e == firstStretch(block), 0.0f, before);
}

void AttentionPipe::followStretches() {
  RDom r(0, (keys + (stretchKeys - 1)) / stretchKeys, names("stretch"));
  r.where(r >= firstStretch(b));
  r.where(r <= lastStretch(b));
  stretch = r;
  if (isApart())
    kept = make("kept");
  kept(d, q, t, b, h) = undef<float>();
  kept(d, q, t, b, h) = result(d, q, b * tiles() + t, r, h);
}

void AttentionPipe::scheduleStretches() {
  const int width = inTiles                         ? columnsInTiles()
                    : paired || integral || inBytes ? paddedValue()
                                                    : int(s.valueDim);
  Var di(names("di")), dv(names("dv"));
  kept.compute_at(pipe.out, block);
  Stage each = kept.update();
  if (inTiles)
    each.reorder(q, d, t, stretch, b, h).vectorize(q, V);
  else
    each.split(d, d, di, V * mixedTile.vectors, tail())
        .split(di, di, dv, V)
        .reorder(dv, di, q, d, t, stretch, b, h)
        .vectorize(dv)
        .unroll(di)
        .unroll(q);
  each.partition(stretch, Partition::Never);
  for (Carried &carry : carried) {
    carry.before.compute_at(pipe.out, block);
    if (carry.after.name() == kept.name())
      for (Func f : {carry.before, carry.after}) {
        f.bound(d, 0, width).bound_extent(q, mixedTile.rows);
        if (inTiles)
          f.reorder_storage(q, d, t, b, h);
      }
    else
      carry.before.bound_extent(q, queryBlock).store_in(MemoryType::Stack);
  }
  if (isApart())
    for (Func f : {factor, ownFactor, highest, total})
      lanes(f);
  else if (!isLinear())
    for (Func f : {factor, top})
      lanes(f);
  pipe.passes.push_back(new CarryOver(carried));
}

} // namespace mille

// Attention's schedule: what is computed where, and what memory that takes.
#include "compiler/halide/AttentionPipe.h"
#include "compiler/halide/Emit.h"

using namespace Halide;

namespace mille {

// 12 to 20 accumulators of 32 vector registers, 8 to 12 of 16: enough to hide a
// multiply-add's latency, and a load for every second one.
AttentionPipe::Tile AttentionPipe::mixedTileOf(const AttentionSpec &s,
                                               const Machine &machine) {
  const int vectors = int(s.valueDim + machine.lanes - 1) / machine.lanes;
  const int rows = machine.wide ? 8 : 4;
  if (vectors == 1)
    return {2 * rows, 1};
  if (vectors % 3 == 0)
    return {rows, 3};
  if (vectors == 5 && machine.wide)
    return {4, 5};
  return {rows, 2};
}

// Whole vectors, predicated at the last: of narrower ones LLVM makes pairs, and
// then it rounds twice where it should once.
TailStrategy AttentionPipe::tail() const {
  return s.valueDim % V ? TailStrategy::GuardWithIf : TailStrategy::Auto;
}

// kv head -> head -> query block; inside, whole score rows.
void AttentionPipe::scheduleOut() {
  const int tiles = queryBlock / mixedTile.rows, group = int(s.group());
  const int width = int(s.valueDim);
  Var qm(names("qm")), qi(names("qi")), hg(names("hg")), di(names("di")), dv(names("dv"));
  auto buffer = pipe.out.output_buffer();
  buffer.dim(0).set_bounds(0, width);
  buffer.dim(1).set_stride(int(spec.out.rowStride));
  buffer.dim(2).set_stride(width);
  pipe.out.bound(d, 0, width);
  Stage run = pipe.out.update();
  run.split(m, qo, qi, mixedTile.rows, TailStrategy::GuardWithIf)
      .split(qo, qo, qm, tiles, TailStrategy::GuardWithIf)
      .split(d, d, di, V * mixedTile.vectors, tail())
      .split(di, di, dv, V);
  if (group > 1 && s.kvHeads > 1) {
    buffer.dim(2).set_min((buffer.dim(2).min() / group) * group);
    run.split(h, hk, hg, group, TailStrategy::GuardWithIf);
  } else {
    run.split(h, hk, hg, 1);
  }
  run.reorder(dv, di, qi, d, qm, qo, hg, hk).vectorize(dv).unroll(di).unroll(qi);
}

void AttentionPipe::scheduleQueries() {
  if (s.has(Operand::rotation)) {
    turnedQuery.rows.compute_at(pipe.out, qo);
    turnedQuery.vectorize(V);
    perKeyHead(turnedKey.rows);
    turnedKey.vectorize(V);
  }
  if (factors.defined())
    lanes(factors);
  quads.compute_at(pipe.out, qo).bound_extent(q, quad).bound_extent(u, queryBlock / quad)
      .reorder(q, d, u).vectorize(d, lanesFor(s.headDim, V)).unroll(q)
      .store_in(MemoryType::Stack);
  queriesAcross.compute_at(pipe.out, qo).bound_extent(q, queryBlock)
      .align_storage(q, V).reorder(q, d).vectorize(q, quad).unroll(q)
      .store_in(MemoryType::Stack);
}

// What a task prepares once for each key head.
void AttentionPipe::perKeyHead(Func f) {
  if (s.kvHeads == 1)
    f.compute_root();
  else
    f.compute_at(pipe.out, hk);
}
// A number per query of a block.
void AttentionPipe::lanes(Func f) {
  f.compute_at(pipe.out, qo).bound_extent(q, queryBlock).vectorize(q, V).unroll(q)
      .store_in(MemoryType::Stack);
}
// One per query and key of a block.
void AttentionPipe::plane(Func f, const RVar &tile) {
  f.compute_at(pipe.out, qo).bound_extent(q, queryBlock).bound_extent(ki, keyTile);
  f.update().reorder(q, ki, tile).vectorize(q, V).unroll(q).unroll(ki);
}

void AttentionPipe::scheduleScores() {
  plane(scores, scoreTile);
  dots.compute_at(scores, scoreTile).store_in(MemoryType::Register)
      .bound_extent(q, queryBlock).bound_extent(ki, keyTile).bound_extent(ko, 1)
      .reorder(q, ki).vectorize(q, V).unroll(q).unroll(ki);
  dots.update().reorder(q, ki, depth).vectorize(q, V).unroll(q).unroll(ki);
  if (strip.defined())
    strip.compute_at(pipe.out, qo).vectorize(u, V);
  if (isLinear())
    return;
  for (auto &[f, across] : {std::pair<Func, RVar>{top, topTile}, {sum, sumTile}}) {
    lanes(f);
    Func(f).update().reorder(q, across).vectorize(q, V).unroll(q);
  }
  plane(weights, weightTile);
  lanes(inverse);
}

void AttentionPipe::scheduleMixed() {
  mixed.compute_at(pipe.out, d).store_in(MemoryType::Register)
      .bound_extent(q, mixedTile.rows).vectorize(d, V, tail()).unroll(d).unroll(q);
  for (size_t i = 0; i < mixedKeys.size(); ++i)
    mixed.update(int(i)).reorder(d, q, mixedKeys[i]).vectorize(d, V, tail())
        .unroll(d).unroll(q);
  if (!worst.defined())
    return;
  perKeyHead(worst);
  worst.bound_extent(d, int(s.valueDim)).vectorize(d, V, tail());
  worst.update().vectorize(d, V, tail()).reorder(d, worstKeys);
  perKeyHead(worstOfAll);
  worstOfAll.update().atomic().vectorize(worstColumns, lanesFor(s.valueDim, V));
  perKeyHead(soundKeys);
  for (Func f : {worst, worstOfAll, soundKeys})
    f.store_in(MemoryType::Stack);
}

uint32_t keysTogether(const KernelSpec &spec) {
  bool sums = spec.kind == KernelKind::attention && !spec.attention.decay;
  return sums ? AttentionPipe::mostKeys : 0;
}

void scratchOf(const KernelSpec &spec, uint64_t &base, uint64_t &perKey) {
  base = perKey = 0;
  if (spec.kind != KernelKind::attention)
    return;
  const AttentionSpec &s = spec.attention;
  constexpr int queryBlock = AttentionPipe::mostQueries;
  const bool turns = s.has(AttentionOperand::rotation);
  // scores and weights of a query block, and a turned key row
  perKey = (s.decay ? 1 : 2) * queryBlock * 4;
  if (turns)
    perKey += s.headDim * 4;
  if (s.decay || s.biasByDistance) // a strip of distances
    perKey += 4;
  // keys are rounded up to a key tile; Halide aligns each of the allocations
  base = AttentionPipe::mostKeys * perKey + 5 * 256;
  if (turns)
    base += queryBlock * s.headDim * 4;
}

} // namespace mille

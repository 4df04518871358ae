// Attention with queries in the vector's lanes: scores are transposed, so maxima
// and sums are vertical. Must give a masked key exactly no weight.
#include "compiler/halide/Build.h"
#include "compiler/halide/Emit.h"
#include "compiler/halide/Functions.h"

using namespace Halide;

namespace mille {
namespace {

constexpr double log2e = 1.4426950408889634;
constexpr int queryBlock = 32, keyTile = 8;

// The widest vector that divides a head's columns: no tail to guard.
int lanesFor(int64_t columns, int lanes) {
  while (columns % lanes)
    lanes /= 2;
  return lanes;
}

// A head's value from a table known at compile time.
Expr chosen(const std::vector<double> &values, const Expr &index, double factor) {
  Expr value = float(values.back() * factor);
  for (int i = int(values.size()) - 2; i >= 0; --i)
    value = select(index == i, float(values[i] * factor), value);
  return value;
}

// Rows of heads with their first 2n dimensions turned: out(d, row, head).
struct Turned {
  Func out;
  std::vector<RVar> across; // the update's loops over angles
};
Turned turn(const AttentionSpec &s, const ImageParam &input, int64_t offset,
            const ImageParam &rotation, const Expr &firstRow,
            const Names &names, const char *name) {
  Var d(names("d")), r(names("r")), h(names("h"));
  auto at = [&](const Expr &column) {
    return input(int(offset) + h * int(s.headDim) + column, firstRow + r);
  };
  Turned turned{Func(names(name)), {}};
  Func &out = turned.out;
  const int n = int(s.angles);
  out(d, r, h) = at(d);
  for (int part = 0; part < 2; ++part) {
    RDom i(0, n, names(part ? "angle1" : "angle0"));
    Expr first = s.interleaved ? 2 * i : Expr(i);
    Expr second = s.interleaved ? 2 * i + 1 : i + n;
    Expr cosine = rotation(i, firstRow + r), sine = rotation(i + n, firstRow + r);
    if (part == 0)
      out(first, r, h) = at(first) * cosine - at(second) * sine;
    else
      out(second, r, h) = at(second) * cosine + at(first) * sine;
    turned.across.push_back(i);
  }
  return turned;
}

void vectorizeTurned(Turned &t, const AttentionSpec &s, int lanes) {
  int whole = lanesFor(s.headDim, lanes), part = lanesFor(s.angles, lanes);
  t.out.bound_extent(t.out.args()[0], int(s.headDim)).vectorize(t.out.args()[0], whole);
  if (!s.interleaved)
    for (int i = 0; i < 2; ++i)
      t.out.update(i).vectorize(t.across[i], part);
}

} // namespace

Pipe buildAttention(const KernelSpec &spec, const Machine &machine,
                    const Names &names) {
  const AttentionSpec &s = spec.attention;
  const int V = machine.lanes, D = s.headDim, E = s.valueDim, QB = queryBlock;
  const int group = int(s.group());
  ImageParam query = bufferOf(s.query, names("query"));
  ImageParam key = bufferOf(s.key, names("key"));
  ImageParam value = bufferOf(s.value, names("value"));
  ImageParam bias(Float(32), 2, names("bias")), rotation(Float(32), 2, names("rotation"));
  Param<int> queries(names("queries")), keys(names("keys")), first(names("first"));
  Pipe pipe;
  pipe.arguments = {query, key, value};
  if (s.hasKeyBias) {
    bias = bufferOf(s.keyBias, names("bias"));
    pipe.arguments.push_back(bias);
  }
  if (s.hasRotation) {
    rotation = bufferOf(s.rotation, names("rotation"));
    pipe.arguments.push_back(rotation);
  }
  pipe.arguments.insert(pipe.arguments.end(), {queries, keys, first});

  Var d(names("d")), m(names("m")), h(names("h")), q(names("q")), b(names("b"));
  pipe.out = Func(names("out"));
  Func &out = pipe.out;
  // Nothing is stored by this: it makes the out's range known to what follows.
  out(d, m, h) = undef<float>();
  auto buffer = out.output_buffer();

  // The task's rows lie in one sequence; query blocks count from its first row.
  Expr row0 = buffer.dim(1).min(), rowLast = row0 + buffer.dim(1).extent() - 1;
  Expr sequence = row0 / queries;
  Expr keyRow = sequence * keys;
  auto queryRow = [&](const Expr &block, const Expr &lane) {
    return min(row0 + block * QB + lane, rowLast);
  };
  // position of a query: lanes past the last row repeat it
  Expr position0 = first - sequence * queries;

  // [lane, d, block, head]: queries in lanes, scale and log2 e multiplied in
  Func QT(names("QT"));
  const float factor = float(s.softcap > 0 ? s.scale : s.scale * log2e);
  Turned tq, tk;
  if (s.hasRotation) {
    tq = turn(s, query, s.queryOffset, rotation, Expr(0), names, "turned_query");
    tk = turn(s, key, s.keyOffset, rotation, keyRow, names, "turned_key");
    QT(q, d, b, h) = tq.out(d, queryRow(b, q), h) * factor;
  } else {
    QT(q, d, b, h) = query(int(s.queryOffset) + h * D + d, queryRow(b, q)) * factor;
  }

  // Scores [lane, key of tile, key tile, block, head], in powers of two. The
  // last tile repeats the last key; what that gives is not read.
  Var ki(names("ki")), ko(names("ko"));
  Func dots(names("dots")), scores(names("scores"));
  RDom rd(0, D, names("rd"));
  Expr kvHead = s.kvHeads == 1 ? Expr(0) : h / group;
  Expr kv = min(ko * keyTile + ki, keys - 1);
  Expr keyAt = s.hasRotation
                   ? tk.out(rd, kv, kvHead)
                   : key(int(s.keyOffset) + kvHead * D + rd, keyRow + kv);
  Expr biasAt = s.hasKeyBias ? bias(0, keyRow + kv) * float(log2e) : Expr(0.0f);
  const bool biasFirst = s.softcap <= 0;
  dots(q, ki, ko, b, h) = biasFirst ? biasAt : Expr(0.0f);
  dots(q, ki, ko, b, h) += QT(q, rd, b, h) * keyAt;
  Expr score = dots(q, ki, ko, b, h);
  if (!biasFirst)
    score = tanhOf(score * float(1 / s.softcap)) * float(s.softcap * log2e) + biasAt;
  Expr position = position0 + queryRow(b, q);
  if (!s.slopes.empty())
    score += chosen(s.slopes, h, log2e) * cast<float>(kv - position);
  if (s.causal)
    score = select(kv <= position, score, -1.5e30f);
  scores(q, ki, ko, b, h) = score;

  // Keys that some query of the block sees.
  auto keysOf = [&](const char *name, const Expr &block) {
    RDom r(0, keys, names(name));
    if (s.causal)
      r.where(r < clamp(position0 + queryRow(block, QB - 1) + 1, 0, keys));
    return r;
  };
  auto atKey = [&](Func &f, const Expr &lane, const Expr &r, const Expr &block) {
    return f(lane, r % keyTile, r / keyTile, block, h);
  };
  RDom r0 = keysOf("r0", b), r1 = keysOf("r1", b);
  Func top(names("top")), weights(names("weights")), sum(names("sum")),
      inverse(names("inverse")), mixed(names("mixed"));
  top(q, b, h) = -1.0e29f; // above every masked score
  top(q, b, h) = max(top(q, b, h), atKey(scores, q, r0, b));
  weights(q, ki, ko, b, h) = exp2Weight(scores(q, ki, ko, b, h) - top(q, b, h));
  sum(q, b, h) = 0.0f;
  sum(q, b, h) += atKey(weights, q, r1, b);
  inverse(q, b, h) = select(sum(q, b, h) > 0.0f, 1.0f / sum(q, b, h), 0.0f);
  // [column, query of tile, tile, head]: the tile's own dimensions, as in matmul
  const int tileRows = machine.wide ? 16 : 8, tiles = QB / tileRows;
  Var t(names("t"));
  RDom r2 = keysOf("r2", t / tiles);
  mixed(d, q, t, h) = 0.0f;
  mixed(d, q, t, h) += atKey(weights, (t % tiles) * tileRows + q, r2, t / tiles) *
                       value(int(s.valueOffset) + kvHead * E + d, keyRow + r2);
  Expr local = m - row0;
  // Strict, else LLVM makes it a division in some places and not in others.
  out(d, m, h) = oneRounding(Internal::Call::strict_mul,
                             mixed(d, local % tileRows, local / tileRows, h),
                             inverse(local % QB, local / QB, h));

  // Schedule: kv head -> head -> query block; inside, whole score rows.
  // Whole vectors, predicated at the last: of narrower ones LLVM makes pairs, and
  // then it rounds twice where it should once.
  const TailStrategy tail =
      E % V ? TailStrategy::GuardWithIf : TailStrategy::Auto;
  buffer.dim(0).set_bounds(0, E);
  buffer.dim(1).set_stride(int(spec.out.rowStride));
  buffer.dim(2).set_stride(E);
  Var qo(names("qo")), qm(names("qm")), qi(names("qi")), hk(names("hk")),
      hg(names("hg")), dv(names("dv"));
  out.bound(d, 0, E);
  Stage run = out.update();
  run.split(m, qo, qi, tileRows, TailStrategy::GuardWithIf)
      .split(qo, qo, qm, tiles, TailStrategy::GuardWithIf)
      .split(d, d, dv, V, tail);
  if (group > 1 && s.kvHeads > 1) {
    buffer.dim(2).set_min((buffer.dim(2).min() / group) * group);
    run.split(h, hk, hg, group, TailStrategy::GuardWithIf)
        .reorder(dv, qi, d, qm, qo, hg, hk);
  } else {
    run.split(h, hk, hg, 1).reorder(dv, qi, d, qm, qo, hg, hk);
  }
  run.vectorize(dv).unroll(qi);

  if (s.hasRotation) {
    tq.out.compute_at(out, qo);
    vectorizeTurned(tq, s, V);
    if (s.kvHeads == 1)
      tk.out.compute_root();
    else
      tk.out.compute_at(out, hk);
    vectorizeTurned(tk, s, V);
  }
  QT.compute_at(out, qo).bound_extent(q, QB).align_storage(q, V)
      .reorder(q, d).vectorize(q, V).unroll(q).store_in(MemoryType::Stack);
  scores.compute_at(out, qo).bound_extent(q, QB).bound_extent(ki, keyTile)
      .reorder(q, ki, ko).vectorize(q, V).unroll(q).unroll(ki);
  dots.compute_at(scores, ko).store_in(MemoryType::Register)
      .bound_extent(q, QB).bound_extent(ki, keyTile)
      .reorder(q, ki).vectorize(q, V).unroll(q).unroll(ki);
  dots.update().reorder(q, ki, rd).vectorize(q, V).unroll(q).unroll(ki);
  for (Func f : {top, sum}) {
    f.compute_at(out, qo).bound_extent(q, QB).vectorize(q, V).unroll(q)
        .store_in(MemoryType::Stack);
    f.update().reorder(q, f.name() == top.name() ? RVar(r0) : RVar(r1))
        .vectorize(q, V).unroll(q);
  }
  weights.compute_at(out, qo).bound_extent(q, QB).bound_extent(ki, keyTile)
      .reorder(q, ki, ko).vectorize(q, V).unroll(q).unroll(ki);
  inverse.compute_at(out, qo).bound_extent(q, QB).vectorize(q, V).unroll(q)
      .store_in(MemoryType::Stack);
  mixed.compute_at(out, d).store_in(MemoryType::Register)
      .bound_extent(q, tileRows).vectorize(d, V, tail)
      .unroll(d).unroll(q);
  mixed.update().reorder(d, q, r2).vectorize(d, V, tail).unroll(d).unroll(q);
  return pipe;
}

void scratchOf(const KernelSpec &spec, uint64_t &base, uint64_t &perKey) {
  base = perKey = 0;
  if (spec.kind != KernelKind::attention)
    return;
  const AttentionSpec &s = spec.attention;
  // scores and weights of a query block, and a turned key row
  perKey = 2 * queryBlock * 4;
  if (s.hasRotation)
    perKey += s.headDim * 4;
  // keys are rounded up to a key tile; Halide aligns each of the allocations
  base = keyTile * perKey + 4 * 256;
  if (s.hasRotation)
    base += queryBlock * s.headDim * 4;
}

} // namespace mille

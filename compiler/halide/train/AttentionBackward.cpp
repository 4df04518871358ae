// Attention's backward pass: the softmax is made again from query and key, a
// block of queries in the vector's lanes at a time; what leads to the gradients
// is computed once for all of them.
// Must add keys, queries and heads in their order, whatever heads a task has.
#include "compiler/halide/train/AttentionBackward.h"

#include "compiler/halide/Elements.h"
#include "compiler/halide/Functions.h"

using namespace Halide;

namespace mille {
namespace {

constexpr double log2e = 1.4426950408889634;
constexpr float hidden = -1.5e30f, lowest = -1.0e29f;

using Operand = AttentionOperand;

} // namespace

Expr AttentionBackward::sinkOf() const {
  return at(Operand::sink)(h) * float(log2e);
}

void AttentionBackward::declareOperands() {
  query = bufferOf(s.query, names("query"));
  key = bufferOf(s.key, names("key"));
  value = bufferOf(s.value, names("value"));
  gradient = bufferOf(spec.attentionBackward.gradient, names("gradient"));
  pipe.arguments = {query, key, value, gradient};
  for (int i = 0; i < attentionOperands; ++i) {
    if (!s.optional[i])
      continue;
    const std::string name = names(("operand" + std::to_string(i)).c_str());
    optional[i] = s.optional[i]->element == Element::i32
                      ? ImageParam(Int(32), 1, name)
                      : bufferOf(*s.optional[i], name);
    pipe.arguments.push_back(optional[i]);
  }
}

// Whether the query of lane i of block b sees key j; those past the last do
// not.
Expr AttentionBackward::isSeen() const {
  Expr own = b * together + i, other = min(j, keys - 1);
  Expr seen = j < keys && own < queries;
  if (s.causal)
    seen = seen && j <= own;
  if (s.windowLeft)
    seen = seen && j > own - int(s.windowLeft);
  if (s.windowRight)
    seen = seen && j < own + int(s.windowRight);
  if (s.chunk)
    seen = seen && j / int(s.chunk) == own / int(s.chunk);
  if (s.has(Operand::keyMask))
    seen = seen && at(Operand::keyMask)(other) != 0;
  if (s.has(Operand::segments))
    seen = seen &&
           at(Operand::segments)(other) == at(Operand::segments)(rowOf(b, i));
  return seen;
}

bool AttentionBackward::hasBiases() const {
  return s.has(Operand::keyHeadBias) || s.has(Operand::bias) ||
         !s.slopes.empty();
}

// The sum of all biases of a score, times log2 e.
Expr AttentionBackward::biases() const {
  Expr sum = 0.0f, far = j - (b * together + i);
  if (s.has(Operand::keyHeadBias))
    sum +=
        at(Operand::keyHeadBias)(h / int(s.headsOfKeyBias()), min(j, keys - 1));
  if (s.has(Operand::bias) && !s.biasByDistance)
    sum += at(Operand::bias)(rowOf(b, i) * keys + min(j, keys - 1), h);
  if (s.has(Operand::bias) && s.biasByDistance) {
    const int most = int(s[Operand::bias]->columns / 2);
    sum += at(Operand::bias)(clamp(far, -most, most) + most, h);
  }
  if (s.slopes.empty())
    return sum * float(log2e);
  Expr slope = float(s.slopes.back());
  for (int head = int(s.slopes.size()) - 2; head >= 0; --head)
    slope = select(h == head, float(s.slopes[head]), slope);
  return (sum + slope * cast<float>(far)) * float(log2e);
}

// Queries, or their gradients, in the lanes of vectors; where columns are whole
// vectors, by squares that are turned.
void AttentionBackward::across(Func &f, Func &square, const ImageParam &of,
                               int offset, int width) {
  f = make((of.name() + "_across").c_str());
  Expr there = widened(of(offset + h * width + c, rowOf(b, i)));
  if (width % V) {
    f(i, c, b, h) = there;
    return;
  }
  square = make((of.name() + "_square").c_str());
  square(c, i, b, h) = there;
  f(i, c, b, h) = square(c, i, b, h);
}

void AttentionBackward::addDots(Func &dots, RVar &depth, const Func &across,
                                const Func &rows, int width) {
  RDom r(0, width, names((dots.name() + "_depth").c_str()));
  depth = r;
  dots(i, j, b, h) = 0.0f;
  dots(i, j, b, h) += across(i, r, b, h) * rows(r, j, h);
}

// The softmax of a block's scores.
void AttentionBackward::weigh() {
  const int D = int(s.headDim), group = int(s.group());
  auto element = [&](const Expr &x) { return pairs ? x : widened(x); };
  steps.keyRows = make("key_rows");
  Expr column = int(s.keyOffset) + h / group * D + c;
  if (paddedWidth(D) > D) {
    Expr inside = c < D;
    column = int(s.keyOffset) + h / group * D + min(c, D - 1);
    steps.keyRows(c, j, h) =
        select(likely(inside), widened(key(column, min(j, keys - 1))), 0.0f);
  } else {
    steps.keyRows(c, j, h) = element(key(column, min(j, keys - 1)));
  }
  steps.dot = make("dot");
  if (pairs) {
    pairAcross(paired.query, steps.querySquare, query, int(s.queryOffset), D);
    addDotsOfPairs(steps.dot, paired.depth, steps.depth, paired.query,
                   steps.keyRows, D);
  } else {
    across(steps.queryAcross, steps.querySquare, query, int(s.queryOffset), D);
    addDots(steps.dot, steps.depth, steps.queryAcross, steps.keyRows, D);
  }
  Expr score = steps.dot(i, j, b, h) * float(s.scale);
  score = s.softcap > 0
              ? tanhOf(score * float(1 / s.softcap)) * float(s.softcap * log2e)
              : score * float(log2e);
  if (hasBiases())
    score += biases();
  steps.scores = make("scores");
  steps.scores(i, j, b, h) = select(isSeen(), score, hidden);
  RDom ofTop = seenKeys("top_key"), ofSum = seenKeys("sum_key");
  steps.topKey = ofTop;
  steps.sumKey = ofSum;
  steps.top = make("top");
  const bool sinks = s.has(Operand::sink);
  steps.top(i, b, h) = sinks ? max(sinkOf(), lowest) : Expr(lowest);
  steps.top(i, b, h) = max(steps.top(i, b, h), steps.scores(i, ofTop, b, h));
  steps.weights = make("weights");
  steps.weights(i, j, b, h) =
      exp2Weight(steps.scores(i, j, b, h) - steps.top(i, b, h));
  steps.sum = make("sum");
  steps.sum(i, b, h) =
      sinks ? exp2Weight(sinkOf() - steps.top(i, b, h)) : Expr(0.0f);
  steps.sum(i, b, h) += steps.weights(i, ofSum, b, h);
  steps.inverse = make("inverse"); // once, not for each key
  Expr sum = steps.sum(i, b, h);
  steps.inverse(i, b, h) = select(sum > 0.0f, 1.0f / sum, 0.0f);
  steps.normal = make("normal");
  steps.normal(i, j, b, h) = steps.weights(i, j, b, h) * steps.inverse(i, b, h);
}

// The gradient of the products of query and key.
void AttentionBackward::differ() {
  const int D = int(s.valueDim), group = int(s.group());
  steps.valueRows = make("value_rows");
  Expr there = value(int(s.valueOffset) + h / group * D + c, min(j, keys - 1));
  steps.valueRows(c, j, h) = pairs ? there : widened(there);
  steps.product = make("product");
  if (pairs) {
    pairAcross(paired.gradient, steps.gradientSquare, gradient, 0, D);
    addDotsOfPairs(steps.product, paired.valueDepth, steps.valueDepth,
                   paired.gradient, steps.valueRows, D);
  } else {
    across(steps.gradientAcross, steps.gradientSquare, gradient, 0, D);
    addDots(steps.product, steps.valueDepth, steps.gradientAcross,
            steps.valueRows, D);
  }
  steps.products = make("products");
  steps.products(i, j, b, h) = steps.product(i, j, b, h);
  RDom all = seenKeys("delta_key");
  steps.deltaKey = all;
  steps.delta = make("delta");
  steps.delta(i, b, h) = 0.0f;
  steps.delta(i, b, h) +=
      steps.normal(i, all, b, h) * steps.products(i, all, b, h);
  // The gradient of the scores without a softcap, which is that of biases.
  Expr change = steps.normal(i, j, b, h) *
                (steps.products(i, j, b, h) - steps.delta(i, b, h));
  if (spec.biasGradient || spec.keyBiasGradient) {
    steps.ofScores = make("of_scores");
    steps.ofScores(i, j, b, h) = change;
    change = steps.ofScores(i, j, b, h);
  }
  Expr slope = float(s.scale);
  if (s.softcap > 0) { // a hidden score has no slope
    Expr t = max(steps.scores(i, j, b, h), lowest);
    if (hasBiases())
      t -= biases();
    t *= float(1 / (s.softcap * log2e));
    slope *= 1.0f - select(isSeen(), t * t, 1.0f);
  }
  steps.slopes = make("slopes");
  steps.slopes(i, j, b, h) = change * slope;
}

void AttentionBackward::placeHeads(Func &f, const BufferSpec &buffer,
                                   int width) {
  auto place = f.output_buffer();
  place.dim(0).set_bounds(0, width);
  place.dim(1).set_min(0).set_stride(int(buffer.rowStride));
  place.dim(2).set_stride(width);
}

// The loops of a gradient. Loops of one name at one place are what Halide makes
// one of.
AttentionBackward::Sum AttentionBackward::sumOver(const Expr &rows,
                                                  const Expr &tiles,
                                                  const Expr &terms) {
  auto heads = pipe.out.output_buffer().dim(2);
  RDom r({{0, rows},
          {0, terms},
          {0, tiles},
          {0, blocks},
          {heads.min(), heads.extent()}},
         names("sum"));
  return {r, r[0], r[1], r[2], r[3], r[4]};
}

void AttentionBackward::addTileOfQueries(Func &tile) {
  RDom over(0, keys, names("query_key"));
  limit(over, over, b);
  tile(c, i, b, h) += steps.slopes(i, over, b, h) * steps.keyRows(c, over, h);
  tile.update().reorder(c, i, over).vectorize(c, V).unroll(c).unroll(i);
}

// query gradient[row, c] = sum over keys of slopes * key
void AttentionBackward::addQueries() {
  const int D = int(s.headDim), columns = columnsOfTile(D),
            rows = rowsOfTile(D);
  Func &tile = steps.ofQuery, &out = pipe.out;
  tile = make("of_query");
  tile(c, i, b, h) = 0.0f;
  pairs ? addTileOfQueryPairs(tile) : addTileOfQueries(tile);
  out(c, m, h) = undef<float>();
  Sum sum = sumOver(rows, together / rows, 1);
  Expr lane = sum.tile * rows + sum.row, to = sum.block * together + lane;
  sum.all.where(to < queries);
  out(c, to, sum.head) = tile(c, lane, sum.block, sum.head);
  placeHeads(out, spec.out, D);
  out.bound(c, 0, D);
  tile.compute_at(out, scheduleTiles(out, sum, D))
      .store_in(MemoryType::Register)
      .bound_extent(c, columns)
      .bound_extent(i, rows)
      .vectorize(c, V)
      .unroll(c)
      .unroll(i);
  head = sum.head;
  block = sum.block;
}

// A gradient with a row for each key, which begins with zeros.
Func AttentionBackward::ofKeys(const char *name, int width,
                               const BufferSpec &buffer) {
  const int group = int(s.group());
  Func out(names((std::string(name) + "_gradient").c_str()));
  auto heads = pipe.out.output_buffer().dim(2);
  RDom rows(0, keys, heads.min() / group, heads.extent() / group,
            names((std::string(name) + "_row").c_str()));
  out(c, m, h) = undef<float>();
  out(c, rows.x, rows.y) = 0.0f;
  placeHeads(out, buffer, width);
  out.bound(c, 0, width);
  return out;
}

// key gradient[row, c] = sum over query heads and queries of slopes * query;
// value gradient the same of the softmax and the out's gradient.
void AttentionBackward::addKeys(const char *name, const Func &factor,
                                const ImageParam &of, int offset, int width,
                                const BufferSpec &buffer) {
  Func out = ofKeys(name, width, buffer);
  // Tiles are of keys: a lane that is no query, or a key past the last, adds 0.
  const int tile = rowsOfTile(width);
  Sum sum = sumOver(tile, (keys + tile - 1) / tile, together);
  Expr to = sum.tile * tile + sum.row;
  sum.all.where(to < keys);
  limit(sum.all, sum.tile * tile, sum.block); // of whole tiles, out of loops
  limit(sum.all, to, sum.block);              // of what is read
  out(c, to, sum.head / int(s.group())) +=
      factor(sum.term, to, sum.block, sum.head) *
      widened(of(offset + sum.head * width + c, rowOf(sum.block, sum.term)));
  scheduleSums(out, sum, width);
  pipe.before.push_back(out);
}

// bias gradient[row, column] = sum over the keys at that distance, of which
// columns at the ends have several; by pair the key's own.
void AttentionBackward::addBias() {
  const int width = int(spec.biasGradient->columns / s.heads), most = width / 2;
  Func out(names("bias_gradient"));
  auto heads = pipe.out.output_buffer().dim(2);
  RDom rows(0, queries, heads.min(), heads.extent(), names("bias_row"));
  Sum sum = sumOver(1, keys, together);
  Expr own = sum.block * together + sum.term;
  sum.all.where(own < queries);
  limit(sum.all, sum.tile, sum.block);
  out(c, m, h) = undef<float>();
  out(c, rows.x, rows.y) = 0.0f;
  Expr column = s.biasByDistance ? clamp(sum.tile - own, -most, most) + most
                                 : min(sum.tile, width - 1);
  out(column, own, sum.head) +=
      steps.ofScores(sum.term, sum.tile, sum.block, sum.head);
  placeHeads(out, *spec.biasGradient, width);
  out.bound(c, 0, width);
  out.update(0).vectorize(c, V, TailStrategy::GuardWithIf);
  out.update(1).reorder({sum.row, sum.term, sum.tile, sum.block, sum.head});
  join(out, sum);
  pipe.before.push_back(out);
}

// key bias gradient[row] = sum over queries and the heads that share a number
void AttentionBackward::addKeyBias() {
  const int share = int(s.headsOfKeyBias());
  Func out(names("key_bias_gradient"));
  auto heads = pipe.out.output_buffer().dim(2);
  RDom rows(0, keys, heads.min() / share, heads.extent() / share,
            names("key_bias_row"));
  Sum sum = sumOver(1, keys, together);
  limit(sum.all, sum.tile, sum.block);
  out(c, m, h) = undef<float>();
  out(0, rows.x, rows.y) = 0.0f;
  out(0, sum.tile, sum.head / share) +=
      steps.ofScores(sum.term, sum.tile, sum.block, sum.head);
  placeHeads(out, *spec.keyBiasGradient, 1);
  out.bound(c, 0, 1);
  out.update(1).reorder({sum.row, sum.term, sum.tile, sum.block, sum.head});
  join(out, sum);
  pipe.before.push_back(out);
}

// sink gradient[row] = -p_sink sum(p * g v^T)
void AttentionBackward::addSink() {
  Func out(names("sink_gradient"));
  auto heads = pipe.out.output_buffer().dim(2);
  RDom rows(0, queries, heads.min(), heads.extent(), names("sink_row"));
  Sum sum = sumOver(1, 1, together);
  Expr own = sum.block * together + sum.term;
  sum.all.where(own < queries);
  steps.ofSink = make("of_sink");
  Expr share = exp2Weight(sinkOf() - steps.top(i, b, h)) / steps.sum(i, b, h);
  steps.ofSink(i, b, h) = -share * steps.delta(i, b, h);
  out(c, m, h) = undef<float>();
  out(0, rows.x, rows.y) = 0.0f; // of sums alone may loops be reordered
  out(0, own, sum.head) += steps.ofSink(sum.term, sum.block, sum.head);
  placeHeads(out, *spec.sinkGradient, 1);
  out.bound(c, 0, 1);
  out.update(1).reorder({sum.row, sum.term, sum.tile, sum.block, sum.head});
  join(out, sum);
  pipe.before.push_back(out);
}

Pipe AttentionBackward::build() {
  declareOperands();
  blocks = (queries + together - 1) / together;
  pipe.out = Func(names("out"));
  weigh();
  differ();
  if (pairs)
    pairFactors();
  addQueries();
  for (Func *factor : {pairs ? &paired.slopesOfKey : &steps.slopes,
                       pairs ? &paired.normalOfKey : &steps.normal})
    factor->align_bounds(j, sums / 2); // tiles have that many keys, or half
  const AttentionBackwardSpec &a = spec.attentionBackward;
  const int ofQuery = int(s.headDim), ofValue = int(s.valueDim);
  if (pairs) {
    addKeysOfPairs("key", paired.slopesOfKey, paired.queries, ofQuery,
                   a.keyGradient);
    addKeysOfPairs("value", paired.normalOfKey, paired.gradients, ofValue,
                   a.valueGradient);
  } else {
    addKeys("key", steps.slopes, query, int(s.queryOffset), ofQuery,
            a.keyGradient);
    addKeys("value", steps.normal, gradient, 0, ofValue, a.valueGradient);
  }
  if (spec.keyBiasGradient)
    addKeyBias();
  if (spec.biasGradient)
    addBias();
  if (spec.sinkGradient)
    addSink();
  scheduleSteps();
  pipe.arguments.push_back(queries);
  pipe.arguments.push_back(keys);
  return pipe;
}

Pipe buildAttentionBackward(const KernelSpec &spec, const Machine &machine,
                            const Names &names) {
  return AttentionBackward(spec, machine, names).build();
}

// Blocks of scores, of the softmax, of products and of their gradients: what
// those that live at once hold of 64 queries, for keys rounded up to a tile;
// and a head's keys, in whole tiles, and values.
void scratchOfBackward(const KernelSpec &spec, uint64_t &base,
                       uint64_t &perKey) {
  const AttentionSpec &s = spec.attentionBackward.forward;
  const bool narrow = isBf16(s.query.element); // has copies of factors
  const uint64_t queries = halvesBlocks(spec) ? 32 : 64,
                 functions = narrow ? 6 : 5, tile = 8, columns = 32;
  perKey = functions * queries * 4 +
           ((s.headDim + columns - 1) / columns * columns + s.valueDim) * 4;
  base = tile * perKey + functions * 512;
}

} // namespace mille

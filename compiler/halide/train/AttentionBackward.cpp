// Attention's backward pass: the softmax is made again from query and key, a
// block of queries in the vector's lanes at a time. Each of the three gradients
// has its own loop, and its own copies of what leads to it.
// Must add keys, queries and heads in their order, whatever heads a task has.
#include "compiler/halide/Build.h"
#include "compiler/halide/Functions.h"
#include "compiler/halide/passes/KeepSums.h"

using namespace Halide;

namespace mille {
namespace {

constexpr double log2e = 1.4426950408889634;
constexpr float hidden = -1.5e30f, lowest = -1.0e29f;

using Operand = AttentionOperand;

class AttentionBackward {
public:
  AttentionBackward(const KernelSpec &spec, const Machine &machine,
                    const Names &names)
      : spec(spec), s(spec.attentionBackward.forward), names(names),
        V(machine.lanes), together(2 * machine.lanes),
        rowsOfTile(machine.wide ? 8 : 4) {}

  Pipe build();

private:
  // What leads to a gradient, of one block of queries: functions of (query in
  // the block, key, block, head).
  struct Steps {
    std::string suffix;
    Func queryAcross, gradientAcross, dot, scores, top, weights, sum, normal,
        product, products, delta, slopes;
    RVar depth, valueDepth, topKey, sumKey, deltaKey;
  };

  Func make(const char *name, const Steps &steps) const {
    return Func(names((name + steps.suffix).c_str()));
  }
  RDom domain(const char *name, const Steps &steps, const Expr &extent) const {
    return RDom(0, extent, names((name + steps.suffix).c_str()));
  }
  // The keys that some query of block b sees.
  RDom seenKeys(const char *name, const Steps &steps) const {
    RDom r = domain(name, steps, keys);
    limit(r, r, b);
    return r;
  }
  void limit(RDom &r, const Expr &key, const Expr &block) const {
    if (s.causal)
      r.where(key < (block + 1) * together);
  }

  void declareOperands();
  Expr rowOf(const Expr &block, const Expr &lane) const {
    return min(block * together + lane, queries - 1);
  }
  Expr isSeen() const;
  const ImageParam &at(Operand operand) const { return optional[int(operand)]; }
  Expr sinkOf() const { return at(Operand::sink)(h) * float(log2e); }
  bool hasBiases() const;
  Expr biases() const;
  void weigh(Steps &steps);
  void differ(Steps &steps, bool ofBias = false);
  void addQueries();
  void addBias(Func &out);
  void addSink(Func &out);
  void addKeys(const char *name, Func &out, const ImageParam &of, int offset,
               int width, bool ofValue);
  void schedule(Steps &steps, Func &at, const RVar &block);
  void scheduleDots(Func &dots, const RVar &depth, Func &reader);
  static void placeHeads(Func &f, const BufferSpec &buffer, int width);

  const KernelSpec &spec;
  const AttentionSpec &s;
  const Names &names;
  const int V, together; // queries of a block
  const int rowsOfTile;
  Pipe pipe;
  ImageParam query, key, value, gradient, optional[attentionOperands];
  Param<int> queries{names("queries")}, keys{names("keys")};
  Expr blocks;
  Var i{names("i")}, j{names("j")}, b{names("b")}, h{names("h")}, c{names("c")},
      m{names("m")};
};

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
    sum += at(Operand::keyHeadBias)(h, min(j, keys - 1));
  if (s.has(Operand::bias)) {
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

// The softmax of a block's scores.
void AttentionBackward::weigh(Steps &steps) {
  const int D = int(s.headDim), group = int(s.group());
  steps.queryAcross = make("query_across", steps);
  steps.queryAcross(i, c, b, h) =
      query(int(s.queryOffset) + h * D + c, rowOf(b, i));
  steps.dot = make("dot", steps);
  RDom depth = domain("depth", steps, D);
  steps.depth = depth;
  steps.dot(i, j, b, h) = 0.0f;
  steps.dot(i, j, b, h) +=
      steps.queryAcross(i, depth, b, h) *
      key(int(s.keyOffset) + h / group * D + depth, min(j, keys - 1));
  Expr score = steps.dot(i, j, b, h) * float(s.scale);
  score = s.softcap > 0
              ? tanhOf(score * float(1 / s.softcap)) * float(s.softcap * log2e)
              : score * float(log2e);
  if (hasBiases())
    score += biases();
  steps.scores = make("scores", steps);
  steps.scores(i, j, b, h) = select(isSeen(), score, hidden);
  RDom ofTop = seenKeys("top_key", steps), ofSum = seenKeys("sum_key", steps);
  steps.topKey = ofTop;
  steps.sumKey = ofSum;
  steps.top = make("top", steps);
  const bool sinks = s.has(Operand::sink);
  steps.top(i, b, h) = sinks ? max(sinkOf(), lowest) : Expr(lowest);
  steps.top(i, b, h) = max(steps.top(i, b, h), steps.scores(i, ofTop, b, h));
  steps.weights = make("weights", steps);
  steps.weights(i, j, b, h) =
      exp2Weight(steps.scores(i, j, b, h) - steps.top(i, b, h));
  steps.sum = make("sum", steps);
  steps.sum(i, b, h) =
      sinks ? exp2Weight(sinkOf() - steps.top(i, b, h)) : Expr(0.0f);
  steps.sum(i, b, h) += steps.weights(i, ofSum, b, h);
  steps.normal = make("normal", steps);
  Expr sum = steps.sum(i, b, h);
  steps.normal(i, j, b, h) =
      steps.weights(i, j, b, h) * select(sum > 0.0f, 1.0f / sum, 0.0f);
}

// The gradient of the scores, times the scale; of the biases without it.
void AttentionBackward::differ(Steps &steps, bool ofBias) {
  const int D = int(s.valueDim), group = int(s.group());
  steps.gradientAcross = make("gradient_across", steps);
  steps.gradientAcross(i, c, b, h) = gradient(h * D + c, rowOf(b, i));
  steps.product = make("product", steps);
  RDom depth = domain("value_depth", steps, D);
  steps.valueDepth = depth;
  steps.product(i, j, b, h) = 0.0f;
  steps.product(i, j, b, h) +=
      steps.gradientAcross(i, depth, b, h) *
      value(int(s.valueOffset) + h / group * D + depth, min(j, keys - 1));
  steps.products = make("products", steps);
  steps.products(i, j, b, h) = steps.product(i, j, b, h);
  RDom all = seenKeys("delta_key", steps);
  steps.deltaKey = all;
  steps.delta = make("delta", steps);
  steps.delta(i, b, h) = 0.0f;
  steps.delta(i, b, h) +=
      steps.normal(i, all, b, h) * steps.products(i, all, b, h);
  Expr slope = ofBias ? 1.0f : float(s.scale);
  if (s.softcap > 0 && !ofBias) { // a hidden score has no slope
    Expr t = max(steps.scores(i, j, b, h), lowest);
    if (hasBiases())
      t -= biases();
    t *= float(1 / (s.softcap * log2e));
    slope *= 1.0f - select(isSeen(), t * t, 1.0f);
  }
  steps.slopes = make("slopes", steps);
  steps.slopes(i, j, b, h) =
      steps.normal(i, j, b, h) *
      (steps.products(i, j, b, h) - steps.delta(i, b, h)) * slope;
}

void AttentionBackward::placeHeads(Func &f, const BufferSpec &buffer,
                                   int width) {
  auto place = f.output_buffer();
  place.dim(0).set_bounds(0, width);
  place.dim(1).set_min(0).set_stride(int(buffer.rowStride));
  place.dim(2).set_stride(width);
}

// query gradient[row, c] = sum over keys of slopes * key
void AttentionBackward::addQueries() {
  Steps steps{"_of_query"};
  weigh(steps);
  differ(steps);
  const int D = int(s.headDim);
  Func &out = pipe.out;
  RDom rows(0, rowsOfTile, 0, together / rowsOfTile, 0, blocks,
            names("query_row"));
  Expr row = rows.z * together + rows.y * rowsOfTile + rows.x;
  rows.where(row < queries);
  RDom all(0, rowsOfTile, 0, together / rowsOfTile, 0, blocks, 0, keys,
           names("query_sum"));
  Expr lane = all.y * rowsOfTile + all.x, to = all.z * together + lane;
  all.where(to < queries);
  limit(all, all.w, all.z);
  out(c, m, h) = undef<float>();
  out(c, row, h) = 0.0f;
  out(c, to, h) += steps.slopes(lane, all.w, all.z, h) *
                   key(int(s.keyOffset) + h / int(s.group()) * D + c, all.w);
  placeHeads(out, spec.out, D);
  out.bound(c, 0, D);
  Var co(names("co")), ci(names("ci")), cv(names("cv"));
  out.update(0).vectorize(c, V, TailStrategy::GuardWithIf);
  out.update(1)
      .split(c, co, ci, 2 * V, TailStrategy::GuardWithIf)
      .split(ci, ci, cv, V)
      .reorder(cv, ci, all.x, all.w, co, all.y, all.z, h)
      .vectorize(cv)
      .unroll(ci)
      .unroll(all.x);
  schedule(steps, out, all.z);
  pipe.passes.push_back(keepSums({out.name(), all.w.name()}));
}

// key gradient[row, c] = sum over query heads and queries of slopes * query;
// value gradient the same of the softmax and the out's gradient.
void AttentionBackward::addKeys(const char *name, Func &out,
                                const ImageParam &of, int offset, int width,
                                bool ofValue) {
  Steps steps{std::string("_of_") + name};
  weigh(steps);
  if (!ofValue)
    differ(steps);
  const int group = int(s.group());
  out = Func(names((std::string(name) + "_gradient").c_str()));
  auto heads = pipe.out.output_buffer().dim(2);
  Expr first = heads.min() / group, count = heads.extent() / group;
  const Expr tiles = (keys + rowsOfTile - 1) / rowsOfTile;
  RDom rows(0, keys, first, count, names((std::string(name) + "_row").c_str()));
  // Tiles are of keys: a lane that is no query adds 0.
  RDom all({{0, rowsOfTile},
            {0, together},
            {0, tiles},
            {0, blocks},
            {0, group},
            {first, count}},
           names((std::string(name) + "_sum").c_str()));
  RVar inTile = all[0], lane = all[1], tile = all[2], block = all[3],
       member = all[4], shared = all[5];
  Expr to = tile * rowsOfTile + inTile, head = shared * group + member;
  all.where(to < keys);
  limit(all, to, block);
  const Func &factor = ofValue ? steps.normal : steps.slopes;
  out(c, m, h) = undef<float>();
  out(c, rows.x, rows.y) = 0.0f;
  out(c, to, shared) += factor(lane, to, block, head) *
                        of(offset + head * width + c, rowOf(block, lane));
  placeHeads(out,
             ofValue ? spec.attentionBackward.valueGradient
                     : spec.attentionBackward.keyGradient,
             width);
  out.bound(c, 0, width);
  Var co(names("co")), ci(names("ci")), cv(names("cv"));
  out.update(0).vectorize(c, V, TailStrategy::GuardWithIf);
  out.update(1)
      .split(c, co, ci, 2 * V, TailStrategy::GuardWithIf)
      .split(ci, ci, cv, V)
      .reorder(cv, ci, inTile, lane, co, tile, block, member, shared)
      .vectorize(cv)
      .unroll(ci)
      .unroll(inTile);
  schedule(steps, out, block);
  pipe.passes.push_back(keepSums({out.name(), lane.name()}));
}

// bias gradient[row, column] = sum over the keys at that distance; columns at
// the ends have several.
void AttentionBackward::addBias(Func &out) {
  Steps steps{"_of_bias"};
  weigh(steps);
  differ(steps, /*ofBias=*/true);
  const int width = int(s[Operand::bias]->columns), most = width / 2;
  out = Func(names("bias_gradient"));
  auto heads = pipe.out.output_buffer().dim(2);
  RDom rows(0, queries, heads.min(), heads.extent(), names("bias_row"));
  RDom all(
      {{0, together}, {0, keys}, {0, blocks}, {heads.min(), heads.extent()}},
      names("bias_sum"));
  Expr own = all[2] * together + all[0];
  all.where(own < queries);
  limit(all, all[1], all[2]);
  out(c, m, h) = undef<float>();
  out(c, rows.x, rows.y) = 0.0f;
  out(clamp(all[1] - own, -most, most) + most, own, all[3]) +=
      steps.slopes(all[0], all[1], all[2], all[3]);
  placeHeads(out, *spec.biasGradient, width);
  out.bound(c, 0, width);
  out.update(0).vectorize(c, V, TailStrategy::GuardWithIf);
  schedule(steps, out, all[2]);
}

// sink gradient[row] = -p_sink sum(p * g v^T)
void AttentionBackward::addSink(Func &out) {
  Steps steps{"_of_sink"};
  weigh(steps);
  differ(steps);
  out = Func(names("sink_gradient"));
  auto heads = pipe.out.output_buffer().dim(2);
  RDom all({{0, together}, {0, blocks}, {heads.min(), heads.extent()}},
           names("sink_row"));
  Expr own = all[1] * together + all[0];
  all.where(own < queries);
  Expr top = steps.top(all[0], all[1], all[2]);
  Expr share = exp2Weight(at(Operand::sink)(all[2]) * float(log2e) - top) /
               steps.sum(all[0], all[1], all[2]);
  out(c, m, h) = undef<float>();
  out(0, own, all[2]) = -share * steps.delta(all[0], all[1], all[2]);
  placeHeads(out, *spec.sinkGradient, 1);
  out.bound(c, 0, 1);
  schedule(steps, out, all[1]);
}

// A register tile of dots: all lanes of a block, and some keys.
void AttentionBackward::scheduleDots(Func &dots, const RVar &depth,
                                     Func &reader) {
  Var jo(names("jo")), ji(names("ji"));
  reader.split(j, jo, ji, rowsOfTile, TailStrategy::RoundUp)
      .reorder(i, ji, jo)
      .vectorize(i, V)
      .unroll(i);
  dots.compute_at(reader, jo)
      .store_in(MemoryType::Register)
      .bound_extent(i, together)
      .bound_extent(j, rowsOfTile)
      .vectorize(i, V)
      .unroll(i)
      .unroll(j)
      .update()
      .reorder(i, j, depth)
      .vectorize(i, V)
      .unroll(i)
      .unroll(j);
}

// Computes all steps once for each block of queries of a head.
void AttentionBackward::schedule(Steps &steps, Func &at, const RVar &block) {
  auto place = [&](Func &f) {
    if (f.defined())
      f.compute_at(at, block).bound_extent(i, together);
  };
  auto lanes = [&](Func &f) {
    if (f.defined())
      f.vectorize(i, V).unroll(i);
  };
  auto adds = [&](Func &f, const RVar &over) {
    if (!f.defined())
      return;
    place(f);
    lanes(f);
    f.store_in(MemoryType::Stack);
    f.update().reorder(i, over).vectorize(i, V).unroll(i);
  };
  for (Func *across : {&steps.queryAcross, &steps.gradientAcross}) {
    place(*across);
    if (across->defined())
      across->store_in(MemoryType::Stack).vectorize(i, V);
  }
  for (Func *f : {&steps.scores, &steps.products, &steps.weights, &steps.normal,
                  &steps.slopes})
    place(*f);
  scheduleDots(steps.dot, steps.depth, steps.scores);
  if (steps.products.defined())
    scheduleDots(steps.product, steps.valueDepth, steps.products);
  for (Func *f : {&steps.weights, &steps.normal, &steps.slopes})
    lanes(*f);
  adds(steps.top, steps.topKey);
  adds(steps.sum, steps.sumKey);
  adds(steps.delta, steps.deltaKey);
}

Pipe AttentionBackward::build() {
  declareOperands();
  blocks = (queries + together - 1) / together;
  pipe.out = Func(names("out"));
  addQueries();
  Func ofKey, ofValue;
  addKeys("key", ofKey, query, int(s.queryOffset), int(s.headDim), false);
  addKeys("value", ofValue, gradient, 0, int(s.valueDim), true);
  pipe.before = {ofKey, ofValue};
  if (s.has(Operand::bias))
    addBias(pipe.before.emplace_back());
  if (s.has(Operand::sink))
    addSink(pipe.before.emplace_back());
  pipe.arguments.push_back(queries);
  pipe.arguments.push_back(keys);
  return pipe;
}

} // namespace

Pipe buildAttentionBackward(const KernelSpec &spec, const Machine &machine,
                            const Names &names) {
  return AttentionBackward(spec, machine, names).build();
}

// Blocks of scores, softmax, products and slopes, of one gradient at a time:
// what four functions hold of 32 queries, for the keys rounded up to a tile.
void scratchOfBackward(const KernelSpec &spec, uint64_t &base,
                       uint64_t &perKey) {
  constexpr uint64_t queries = 32, functions = 5, tile = 8;
  perKey = functions * queries * 4;
  base = tile * perKey + functions * 512;
}

} // namespace mille

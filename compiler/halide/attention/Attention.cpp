// Attention with queries in the vector's lanes: scores are transposed, so
// maxima and sums are vertical.
// Must see nothing of a hidden key, not even NaN: a select replaces its score
// before use, and its value where that is not finite.
#include "compiler/halide/Elements.h"
#include "compiler/halide/Emit.h"
#include "compiler/halide/OneRounding.h"
#include "compiler/halide/attention/AttentionPipe.h"
#include "compiler/halide/attention/AttentionSteps.h"

using namespace Halide;

namespace mille {
using Operand = AttentionOperand;

Pipe AttentionPipe::build() {
  declareOperands();
  if (s.panels)
    takeShifts();
  placeTask();
  if (device) {
    pipe.out(d, m, h, z) = rounded(outcome(), spec.out.element);
    scheduleOnDevice();
    return std::move(pipe);
  }
  static_assert(AttentionSpec::mostFewKeys <= longStretch);
  // Keys that are apart always come in stretches, few keys never.
  const bool atOnce = !isApart(), inStretches = isApart() || !s.fewKeys;
  Expr rows = rowLast - row0 + 1, inOne = keys <= stretchKeys,
       always = Internal::const_true();
  AttentionPipe whole(*this), parts(*this);
  std::vector<AttentionPipe *> forms;
  if (atOnce) {
    whole.placeRows("", rows, inStretches ? inOne : always);
    forms.push_back(&whole);
  }
  if (inStretches) {
    parts.placeRows("_parts", rows, atOnce ? !inOne : always);
    parts.takeStretches();
    forms.push_back(&parts);
  }
  if (integral)
    whole.findFirstKey();
  boundOut();
  for (AttentionPipe *form : forms) {
    pipe.out(d, row0 + form->row / headsTogether,
             form->outHeads * headsTogether + form->row % headsTogether) =
        rounded(form->outcome(), spec.out.element);
    form->schedule();
    pipe.passes.insert(pipe.passes.end(), form->pipe.passes.begin(),
                       form->pipe.passes.end());
  }
  return std::move(pipe);
}

// Adds a form of the algorithm for `count` rows; a run prepares nothing for a
// form that it does not take. Heads that are together follow each other row by
// row.
void AttentionPipe::placeRows(const char *form, const Expr &count,
                              const Expr &taken) {
  suffix = form;
  const int group = int(s.group()), parts = group / headsTogether;
  auto heads = outBuffer().dim(2);
  const bool one = s.kvHeads == 1; // then tasks are cut by query heads
  Region region{{0, count * headsTogether},
                {one ? heads.min() / headsTogether : Expr(0),
                 one ? heads.extent() / headsTogether : Expr(parts)},
                {one ? Expr(0) : heads.min() / group,
                 one ? Expr(1) : heads.extent() / group}};
  if (few)
    region.push_back({outBuffer().dim(3).min(), outBuffer().dim(3).extent()});
  RDom r(region, names(("row" + suffix).c_str()));
  r.where(taken);
  if (few)
    stretch = r.w;
  row = r.x;
  headsOfKey = r.y;
  keyHead = r.z;
  outHeads = one ? Expr(r.y) : r.z * parts + r.y;
  block = RVar(names(("block" + suffix).c_str()));
}

// Scores, weights, and the values that they mix.
void AttentionPipe::describe() {
  findLaneRows();
  if (integral)
    prepareValues();
  if (inBytes) {
    few ? spreadQueries() : transposeQueries();
    roundQueries();
    scoreBytes();
  } else if (few) {
    spreadQueries();
    paired ? scorePairs() : score();
  } else if (scoresIntegers()) {
    transposeIntegers();
    scoreIntegers();
  } else if (paired) {
    transposePairs();
    scorePairs();
  } else {
    transposeQueries();
    score();
  }
  if (inBytes) {
    few ? weighLanes() : weigh();
    mixBytes();
  } else if (few) {
    weighLanes();
    paired ? mixPairs() : mix();
  } else if (integral) {
    weighIntegers();
    mixIntegers();
  } else if (paired) {
    weighPairs();
    inTiles ? mixInTiles() : mixPairs();
  } else {
    weigh();
    mix();
  }
}

// The value of the out at column d, row m (or the form's row), head h.
Expr AttentionPipe::outcome() {
  describe();
  Expr local = device ? Expr(m) : Expr(row);
  Expr of = device ? z * int(s.heads) + h : outHeads;
  Expr lane = local % mixedTile.rows, tile = local / mixedTile.rows;
  if (stretched)
    followStretches();
  if (inTiles)
    return turned(
        [&](const Expr &column, const Expr &lane, const Expr &block) {
          return stretched ? kept(column, lane, 0, block, h)
                           : result(column, lane, block, 0, h);
        },
        local);
  if (!stretched)
    return result(d, lane, tile, 0, of);
  return kept(d, lane, tile % tiles(), tile / tiles(), of);
}

void AttentionPipe::schedule() {
  inTiles ? scheduleRowsInTiles() : scheduleRows();
  if (stretched && !few)
    scheduleStretches();
  for (auto &[f, key] :
       {std::pair{firstKept, keptKey}, {firstHidden, hiddenKey}})
    if (f.defined()) {
      Func found = f;
      found.compute_root();
      found.update().atomic().vectorize(key, V, TailStrategy::GuardWithIf);
    }
  if (few)
    return scheduleLanes();
  if (inBytes) {
    scheduleQueryBytes();
    scheduleScores();
  } else if (scoresIntegers()) {
    scheduleQueryIntegers();
    scheduleScoreIntegers();
  } else if (paired) {
    scheduleQueryPairs();
    scheduleScorePairs();
  } else {
    scheduleQueries();
    scheduleScores();
  }
  if (inBytes)
    scheduleMixedBytes();
  else if (integral)
    scheduleMixedIntegers();
  else if (paired)
    inTiles ? scheduleMixedInTiles() : scheduleMixedPairs();
  else
    scheduleMixed();
  if (integral || (paired && !inTiles)) {
    std::vector<Words> words{queryWords, weightWords};
    if (valueWords.words.defined())
      words.push_back(valueWords);
    pipe.passes.push_back(shareWords(words));
  }
}

// The rotated heads of `input`, of which a sequence has `heads`; they are
// counted as h counts heads.
TurnedHeads AttentionPipe::turn(const ImageParam &input, int64_t offset,
                                int heads, const Expr &firstRow,
                                const char *name) const {
  auto source = [&](const Expr &column, const Expr &row, const Expr &of) {
    Expr own = device ? of % heads : of;
    return widened(
        input(int(offset) + own * int(s.headDim) + column, firstRow + row));
  };
  Turning turning{s.headDim, s.angles(), s.start, s.interleaved};
  return TurnedHeads(turning, source, at(Operand::rotation), firstRow, names,
                     name);
}

// The factor of a lane's scores. Scores are exponents of two, whose exponential
// is quick.
Expr AttentionPipe::factorOf(const Expr &lane) {
  Expr factor = float(s.softcap > 0 || isLinear() ? s.scale : s.scale * log2e);
  auto times = [&](const Expr &by) { factor = multiplied(factor, by); };
  const bool byHead =
      s.has(Operand::headScale) && s[Operand::headScale]->columns > 1;
  if (s.has(Operand::headScale))
    times(at(Operand::headScale)(byHead ? headOf(q) : Expr(0)));
  const bool byLane =
      s.has(Operand::queryScale) || (byHead && headsTogether > 1);
  if (!byLane)
    return factor;
  if (s.has(Operand::queryScale))
    times(at(Operand::queryScale)(0, queryRow(b, q)));
  factors = make("factors");
  factors(q, b, h) = factor;
  return factors(lane, b, h);
}

// [lane, d, block, head]: queries in lanes, multiplied by the factor of their
// scores.
//
// Heads are rotated here, not in the projection's epilogue. Measured for 32
// heads of 128 at 1, 128 and 512 tokens (zen4, one thread): here it takes 3.4,
// 126 and 510 us, in a kernel.rotate, which is an upper bound for an epilogue,
// 0.5, 75 and 990 us. The layer's matmuls take some 20, 450 and 1800 ms, so the
// launch and the buffer that are saved decide.
void AttentionPipe::transposeQueries() {
  queriesAcross = make("QT");
  Expr lane = u * quad + q;
  Expr from =
      widened(query(int(s.queryOffset) + headOf(lane) * int(s.headDim) + d,
                    queryRow(b, lane)));
  if (s.has(Operand::rotation)) {
    turnedQuery = turn(query, s.queryOffset, int(s.heads), 0, "turned_query");
    turnedKey = turn(key, s.keyOffset, int(s.kvHeads),
                     device ? h / int(s.kvHeads) * keys : keyRow, "turned_key");
    from =
        turnedQuery.at(d, queryRow(b, lane), device ? Expr(h) : headOf(lane));
  }
  // A transposition in two steps, four queries first, takes few shuffles.
  quads = make("quads");
  quads(q, d, u, b, h) = from * factorOf(lane);
  queriesAcross(q, d, b, h) = quads(q % quad, d, q / quad, b, h);
}

Pipe buildAttention(const KernelSpec &spec, const Machine &machine,
                    const Names &names, RowClass rows) {
  KernelSpec own = spec;
  own.attention.panels &= !machine.device; // whose states are in rows
  const bool few = rows == RowClass::few;
  AttentionPipe pipe(own, machine, names, few);
  return rows == RowClass::join ? pipe.buildJoin()
         : few                  ? pipe.buildParts()
                                : pipe.build();
}

int fewRowsOf(const AttentionSpec &attention) {
  return AttentionPipe::fewRowsOf(attention);
}
int keysOfPart(const AttentionSpec &attention) {
  return fewRowsOf(attention) ? AttentionPipe::shortStretch : 0;
}

} // namespace mille

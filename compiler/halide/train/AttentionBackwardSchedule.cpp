// The schedule of attention's backward pass: register tiles of products and of
// gradients, whose loops over heads and blocks of queries are one.
// Must not change what is computed.
#include "compiler/halide/passes/KeepSums.h"
#include "compiler/halide/passes/Prefetch.h"
#include "compiler/halide/passes/TurnSquares.h"
#include "compiler/halide/train/AttentionBackward.h"

using namespace Halide;

namespace mille {
namespace {

int bytesOf(const ImageParam &buffer) { return buffer.type().bytes(); }

} // namespace

// Joins a gradient's loops over heads and blocks with those of the queries'
// gradient. Of some Halide proves that their steps touch different places, and
// joins no such loop with another.
void AttentionBackward::join(Func &f, const Sum &sum) {
  Stage stage = f.update(f.num_update_definitions() - 1);
  Internal::StageSchedule schedule = stage.get_schedule(); // a handle
  for (Internal::Dim &dim : schedule.dims())
    if (dim.var == sum.head.name() || dim.var == sum.block.name())
      dim.dim_type = Internal::DimType::ImpureRVar;
  if (!f.function().same_as(pipe.out.function()))
    stage.compute_with(pipe.out.update(0), sum.block);
}

Var AttentionBackward::scheduleTiles(Func &f, const Sum &sum, int width) {
  Var co(names("co")), ci(names("ci")), cv(names("cv"));
  std::vector<VarOrRVar> loops{cv, ci,       sum.row,   sum.term,
                               co, sum.tile, sum.block, sum.head};
  if (sum.inPairs)
    loops.insert(loops.begin(), sum.part);
  Stage stage = f.update(f.num_update_definitions() - 1);
  stage.split(c, co, ci, columnsOfTile(width), TailStrategy::GuardWithIf)
      .split(ci, ci, cv, V)
      .reorder(loops);
  if (sum.inPairs)
    stage.atomic().vectorize(sum.part);
  stage.vectorize(cv).unroll(ci).unroll(sum.row);
  join(f, sum);
  return co;
}

// A register tile of a gradient's sums.
void AttentionBackward::scheduleSums(Func &f, const Sum &sum, int width) {
  f.update(0).vectorize(c, V, TailStrategy::GuardWithIf);
  scheduleTiles(f, sum, width);
  pipe.passes.push_back(keepSums({f.name(), sum.term.name(), true}));
}

// A register tile of dots: all lanes of a block, and some keys.
void AttentionBackward::scheduleDots(Func &dots, const RVar &part,
                                     const RVar &depth, Func &reader) {
  Var jo(names("jo")), ji(names("ji")), iv(names("iv"));
  const int tile = sums * V / together;
  reader.split(j, jo, ji, tile, TailStrategy::RoundUp)
      .reorder(i, ji, jo)
      .vectorize(i, V)
      .unroll(i);
  dots.compute_at(reader, jo)
      .store_in(MemoryType::Register)
      .bound_extent(i, together)
      .bound_extent(j, tile)
      .vectorize(i, V)
      .unroll(i)
      .unroll(j);
  Stage sums = dots.update();
  sums.split(i, i, iv, V);
  if (pairs)
    sums.reorder(part, iv, i, j, depth).atomic().vectorize(part);
  else
    sums.reorder(iv, i, j, depth);
  sums.vectorize(iv).unroll(i).unroll(j);
}

void AttentionBackward::scheduleAcross(Func &f, Func &square,
                                       const ImageParam &of, int width) {
  f.compute_at(pipe.out, block)
      .bound_extent(i, together)
      .store_in(MemoryType::Stack);
  if (!square.defined()) {
    f.vectorize(i, V);
    return;
  }
  Var io(names("io")), ii(names("ii")), co(names("co")), ci(names("ci"));
  f.split(c, co, ci, V, TailStrategy::GuardWithIf)
      .split(i, io, ii, V)
      .reorder(ii, ci, io, co)
      .vectorize(ii);
  placeSquares(square, {f, io}, c, i, V);
  pipe.passes.push_back(turnSquares({square.name(), f.name(), ci.name(), V}));
  pipe.passes.push_back(
      prefetchFar({of.name(), square.name(), bytesOf(of), width}));
}

// The rows of a head, side by side: tiles read them again and again.
void AttentionBackward::scheduleRows(Func &f, const ImageParam &of, int width) {
  f.compute_at(pipe.out, head).vectorize(c, V, TailStrategy::GuardWithIf);
  pipe.passes.push_back(prefetchFar({of.name(), f.name(), bytesOf(of), width}));
}

// Computes all steps once for each block of queries of a head.
void AttentionBackward::scheduleSteps() {
  auto place = [&](Func &f) {
    f.compute_at(pipe.out, block).bound_extent(i, together);
  };
  auto lanes = [&](Func &f) { f.vectorize(i, V).unroll(i); };
  auto adds = [&](Func &f, const RVar &over) {
    place(f);
    lanes(f);
    f.store_in(MemoryType::Stack);
    f.update().reorder(i, over).vectorize(i, V).unroll(i);
  };
  const int D = int(s.headDim), ofValue = int(s.valueDim);
  if (pairs) {
    schedulePairs();
  } else {
    scheduleAcross(steps.queryAcross, steps.querySquare, query, D);
    scheduleAcross(steps.gradientAcross, steps.gradientSquare, gradient,
                   ofValue);
  }
  scheduleRows(steps.keyRows, key, D);
  scheduleRows(steps.valueRows, value, ofValue);
  for (Func *f : {&steps.scores, &steps.products})
    place(*f);
  scheduleDots(steps.dot, paired.depth, steps.depth, steps.scores);
  scheduleDots(steps.product, paired.valueDepth, steps.valueDepth,
               steps.products);
  for (Func *f :
       {&steps.weights, &steps.normal, &steps.ofScores, &steps.ofSink})
    if (f->defined()) {
      place(*f);
      lanes(*f);
    }
  if (!pairs) { // which round them as they come
    place(steps.slopes);
    lanes(steps.slopes);
  }
  place(steps.inverse);
  lanes(steps.inverse);
  steps.inverse.store_in(MemoryType::Stack);
  adds(steps.top, steps.topKey);
  adds(steps.sum, steps.sumKey);
  adds(steps.delta, steps.deltaKey);
}

} // namespace mille

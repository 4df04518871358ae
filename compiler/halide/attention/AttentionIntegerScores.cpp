// Scores of bf16 by products of integers: of bytes where the op allows it and
// the machine multiplies bytes, else of 16 bits. Each row of queries and keys
// is quantised with its own step. The bytes of keys are unsigned, 128 more than
// their number; the start of each sum corrects for that.
// Must see nothing of a hidden key: its step is 0, and its key term hides it.
#include "compiler/halide/Elements.h"
#include "compiler/halide/OneRounding.h"
#include "compiler/halide/attention/AttentionPipe.h"
#include "compiler/halide/attention/AttentionSteps.h"
#include "compiler/halide/passes/Prefetch.h"

#include <cmath>

using namespace Halide;

namespace mille {
namespace {

constexpr int byteOffset = 128;
constexpr float integerShifter = float(3 << 22); // x + this: x as an integer

} // namespace

Expr asInteger(const Expr &x) {
  return reinterpret<uint32_t>(added(x, integerShifter));
}
Expr magnitudeOf(const Expr &x) { return reinterpret<int32_t>(x) & 0x7fffffff; }
Expr finiteOrNan(const Expr &bits) {
  Expr nan = 0x7fc00000;
  return select(bits >= 0x7f800000, nan, bits);
}
// Bits are compared: of floats, code may take a NaN for the lesser one.
Expr inverseStepOf(const Expr &bits, int most) {
  Expr least = reinterpret<int32_t>(Expr(leastMagnitude));
  return select(bits < least, 0.0f, float(most) / reinterpret<float>(bits));
}
Expr stepOf(const Expr &bits, int most) {
  return multiplied(reinterpret<float>(finiteOrNan(bits)), float(1.0 / most));
}

bool AttentionPipe::takesBytes(const AttentionSpec &s, const Machine &machine) {
  return s.byteScores && !s.panels && machine.bytes && s.headDim % 4 == 0 &&
         (takesPairs(s, machine) || takesIntegers(s, machine)) &&
         !takesTiles(s, machine);
}

// The largest integer of queries and keys with which a dot product fits in 32
// bits.
int AttentionPipe::mostOfDot() const {
  if (queriesAreBytes())
    return INT8_MAX;
  return std::min(INT16_MAX,
                  int(std::sqrt(double(INT32_MAX) / double(s.headDim))));
}

// The largest magnitude of [row, head], as bits, where a NaN is larger than any
// number: first for each lane, then over the lanes.
AttentionPipe::Largest
AttentionPipe::largestOf(const char *name, int64_t columns,
                         const std::function<Expr(Expr)> &at) {
  Largest largest;
  largest.all = make(name);
  largest.byLane = make((name + std::string("_lanes")).c_str());
  const int width = lanesFor(columns, V);
  RDom parts(0, int(columns / width),
             names((name + std::string("_part")).c_str()));
  RDom lanes(0, width, names((name + std::string("_lane")).c_str()));
  largest.part = parts;
  largest.lane = lanes;
  largest.byLane(d, u, h) = 0;
  largest.byLane(d, u, h) =
      max(largest.byLane(d, u, h), magnitudeOf(at(parts * width + d)));
  largest.all(u, h) = 0;
  largest.all(u, h) = max(largest.all(u, h), largest.byLane(lanes, u, h));
  return largest;
}

void AttentionPipe::transposeIntegers() {
  transposeQueries();
  roundQueries();
}

// [part, lane, word of d, block, head]
void AttentionPipe::roundQueries() {
  RDom r(0, int(s.headDim), names("query_column"));
  queryColumn = r;
  queryMost = make("query_most");
  queryMost(q, b, h) = 0;
  queryMost(q, b, h) =
      max(queryMost(q, b, h), magnitudeOf(queriesAcross(q, r, b, h)));
  queryStep = make("query_step");
  queryStep(q, b, h) = stepOf(queryMost(q, b, h), mostOfDot());
  queryInverse = make("query_inverse");
  queryInverse(q, b, h) = inverseStepOf(queryMost(q, b, h), mostOfDot());
  auto scaled = [&](const Expr &column) {
    return multiplied(queriesAcross(q, column, b, h), queryInverse(q, b, h));
  };
  const int parts = wordElements(), bits = 32 / parts;
  Expr word = asInteger(scaled(parts * d + parts - 1))
              << cast<uint32_t>(32 - bits);
  for (int part = 0; part < parts - 1; ++part)
    word = word | (asInteger(scaled(parts * d + part)) & Expr((1u << bits) - 1))
                      << cast<uint32_t>(part * bits);
  queryWords = wordsNamed("query_words", "query_pairs");
  queryWords.words(q, d, b, h) = word;
  readAsParts(queryWords, Int(bits), half, {q, d, b, h});
  if (!queriesAreBytes())
    return;
  RDom all(0, int(s.headDim), names("query_byte"));
  queryByte = all;
  queryTotal = make("query_total");
  if (inBytes) {
    queryTotal(q, b, h) = 0;
    queryTotal(q, b, h) += reinterpret<int32_t>(asInteger(scaled(all))) -
                           reinterpret<int32_t>(Expr(integerShifter));
    return;
  }
  // f32 holds the sum of a query's bytes exactly.
  queryTotal(q, b, h) = 0.0f;
  queryTotal(q, b, h) =
      added(queryTotal(q, b, h),
            added(added(scaled(all), integerShifter), -integerShifter));
}

// Nothing of a hidden key is left: its step is 0.
void AttentionPipe::prepareKeys() {
  const int most = mostOfDot();
  Expr kv = min(u, keys - 1);
  auto element = [&](const Expr &column) {
    if (s.has(Operand::rotation))
      return turnedKey.at(column, kv, h);
    return widened(
        key(int(s.keyOffset) + h * int(s.headDim) + column, keyRow + kv));
  };
  keyMost = largestOf("key_most", s.headDim, element);
  keyIntegers = make("key_integers");
  Expr integer =
      asInteger(multiplied(element(d), inverseStepOf(keyMost.all(u, h), most)));
  keyIntegers(d, u, h) =
      ofBytes ? cast<uint8_t>(integer + Expr(uint32_t(byteOffset)))
              : cast<int16_t>(integer);
  keyStep = make("key_step");
  keyStep(u, h) = select(isSomeKey(u), stepOf(keyMost.all(u, h), most), 0.0f);
}

void AttentionPipe::scoreIntegers() {
  prepareKeys();
  findKeyTerms();
  dots = make("dots");
  const int group = wordElements();
  RDom rd(0, group, 0, int(s.headDim / group), names("rd"));
  depthHalf = rd.x;
  depth = rd.y;
  dots(q, ki, ko, e, b, h) =
      ofBytes ? cast<int32_t>(queryTotal(q, b, h)) * -byteOffset : Expr(0);
  dots(q, ki, ko, e, b, h) +=
      cast<int32_t>(
          keyIntegers(rd.y * group + rd.x, keyOfTile(ko, ki), kvHead)) *
      cast<int32_t>(queryWords.parts(rd.x, q, rd.y, b, h));
  Expr keyNumber = keyOfTile(ko, ki), term = keyTerm(keyNumber, kvHead),
       step = keyStep(keyNumber, kvHead);
  Expr others = Internal::simplify(biasesOf(keyOf(ko)));
  Expr ofQuery = multiplied(cast<float>(dotHere()), queryStep(q, b, h));
  Expr score = ofQuery * step + term;
  if (s.softcap > 0)
    keepScores(hiddenWith(
        term, added(capped(multiplied(ofQuery, step), others), term)));
  else
    keepScores(Internal::is_const(others)
                   ? score
                   : hiddenWith(term, added(score, others)));
}

//===-- Schedule
//----------------------------------------------------------------//

void AttentionPipe::scheduleQueryIntegers() {
  scheduleQueries();
  for (Func f : {queryMost, queryStep, queryInverse})
    oncePerBlock(f);
  queryMost.update().reorder(q, queryColumn).vectorize(q, V).unroll(q);
  if (queryTotal.defined()) {
    oncePerBlock(queryTotal);
    queryTotal.update().reorder(q, queryByte).vectorize(q, V).unroll(q);
  }
  scheduleQueryWords(V);
}

void AttentionPipe::scheduleScoreIntegers() {
  scheduleLargest(keyMost, key);
  perKeyHead(keyStep);
  keyStep.vectorize(u, V, TailStrategy::RoundUp);
  perKeyHead(keyIntegers);
  keyIntegers.bound_extent(d, int(s.headDim))
      .vectorize(d, lanesFor(s.headDim, V));
  scheduleScorePairs();
}

// This function is the first to read a head's rows of `from`: it prefetches.
void AttentionPipe::scheduleLargest(Largest &largest, const ImageParam &from) {
  perKeyHead(largest.all);
  largest.all.update().atomic().vectorize(largest.lane);
  largest.byLane.compute_at(largest.all, u)
      .store_in(MemoryType::Register)
      .vectorize(d);
  largest.byLane.update()
      .reorder(d, largest.part)
      .vectorize(d)
      .unroll(largest.part);
  pipe.passes.push_back(
      prefetchRows({from.name(), largest.all.name(), 2, keyTile}));
}

} // namespace mille

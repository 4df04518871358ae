// The pipeline of attention, and of linear attention: what its algorithm
// (Attention.cpp) and its schedule (AttentionSchedule.cpp) share. Private to
// these.
#pragma once
#include "compiler/halide/Build.h"
#include "compiler/halide/attention/Turn.h"
#include "compiler/halide/attention/Words.h"

namespace mille {

// What a function finds and what it leaves, in one memory. `found` has the same
// dimensions, but for those of one place.
struct Carried {
  Halide::Func found, left;
};

class AttentionPipe {
public:
  AttentionPipe(const KernelSpec &spec, const Machine &machine,
                const Names &names)
      : spec(spec), s(spec.attention), names(names), V(machine.lanes),
        device(machine.device), inTiles(takesTiles(s, machine)),
        queryBlock(device ? mostQueries : 2 * V), keyTile(inTiles ? keyUnitOf(s)
                                                          : machine.wide ? 8
                                                                         : 4),
        together(device ? 1 : int(s.together())),
        mixedTile(mixedTileOf(s, machine)), paired(takesPairs(s, machine)),
        integral(takesIntegers(s, machine)), ofBytes(takesBytes(s, machine)) {}
  Pipe build();

  // Whether products may be of pairs: all is bf16, head dimensions are even,
  // and more than one pair (Words.cpp).
  static bool isOfPairs(const AttentionSpec &s);
  // Whether they are, of bf16: two multiply-adds in a lane.
  static bool takesPairs(const AttentionSpec &s, const Machine &machine);
  // Whether these are in tile registers, in which keys and values' columns are
  // rows.
  static bool takesTiles(const AttentionSpec &s, const Machine &machine);
  // The same of pairs of 16-bit integers.
  static bool takesIntegers(const AttentionSpec &s, const Machine &machine);
  // Whether scores are of bytes, whatever values are mixed by.
  static bool takesBytes(const AttentionSpec &s, const Machine &machine);

  // A query block is two vectors of lanes; these are the most of any machine.
  static constexpr double log2e = 1.4426950408889634;
  static constexpr float hidden = -1.5e30f,
                         lowest = -1.0e29f; // a score; a maximum
  static constexpr int mostQueries = 32;
  // Keys that are added up together on some machine, of pairs where they are in
  // tiles.
  static int keyUnitOf(const AttentionSpec &s) { return isOfPairs(s) ? 32 : 8; }
  static constexpr int items = 8; // of a device that share a query
  // Of a stretch: the scores and weights of a block of queries and most of its
  // keys and values lie in an L2 of 1 MB. Measured (zen5, one thread, 64
  // columns): stretches of 512 to 1024 keys take 4 % longer for 1100 keys, of
  // 1536 4 % for 2048.
  static constexpr int stretchKeys = 1280;

private:
  using Expr = Halide::Expr;
  using Func = Halide::Func;
  using RVar = Halide::RVar;
  using Var = Halide::Var;
  using Operand = AttentionOperand;

  // A register tile of weights times values: queries x vectors of a value.
  struct Tile {
    int rows, vectors;
  };
  static Tile mixedTileOf(const AttentionSpec &s, const Machine &machine);

  bool isLinear() const { return s.decay.has_value(); }
  Func make(const char *name) const {
    return Func(names((name + suffix).c_str()));
  }
  const Halide::ImageParam &at(Operand operand) const {
    return optional[int(operand)];
  }

  void placeRows(const char *form, const Expr &count, const Expr &taken);
  Expr outcome();
  void schedule();
  void declareOperands();
  void placeTask();
  void placeSequences();
  Expr ownKvHead() const;
  Expr rowAt(const Expr &place) const;
  Expr queryRow(const Expr &block, const Expr &lane) const;
  Expr headOf(const Expr &lane) const;
  void findLaneRows();

  // Keys; an end that is not defined is the sequence's.
  struct Range {
    Expr first, last;
  };
  Range seenFrom(const Expr &position) const;
  Range seenByBlock(const Expr &block) const;
  Range seenByTile(int lane) const;
  Expr isKept(const Expr &kv) const;
  Expr isSomeKey(const Expr &place) const;
  Expr isSeen(const Expr &kv) const;
  Expr keyOfTile(const Expr &tile, const Expr &i) const;
  void findKeyTerms();
  static Expr hiddenWith(const Expr &term, const Expr &score);
  Expr lastOf(const Range &range) const;
  Expr endBySound(const Expr &last, bool careful) const;
  Expr tileCount() const;
  Expr tilesTogether() const;
  void restrictTiles(Halide::RDom &r, const Expr &tile,
                     const Range &seen) const;
  Halide::RDom tilesOf(const char *name, const Expr &block) const;
  Halide::RDom tilesOfItem(const char *name) const;

  TurnedHeads turn(const Halide::ImageParam &input, int64_t offset, int heads,
                   const Expr &firstRow, const char *name) const;
  Expr factorOf(const Expr &lane);
  void transposeQueries();
  Expr byDistance(const Expr &kv, const std::function<Expr(Expr)> &value);
  Expr biasesOf(const Expr &kv);
  void findFirstKey();
  void takeStretches();
  Expr keyAt(const Expr &stretch) const;
  Expr firstStretch(const Expr &block) const;
  Expr lastStretch(const Expr &block) const;
  Expr atFirst(const Expr &start, const Expr &later) const;
  Func found(Func left, const std::vector<Var> &place);
  void carryTop();
  Expr sumBefore();
  Expr mixedBefore();
  void followStretches();

  Expr keyOf(const Expr &tile) const;
  void score();
  Expr dotHere() const { return dots(q, ki, ko, e, b, h); }
  void keepScores(Expr score);
  Expr capped(const Expr &score, const Expr &biases) const;
  Expr chosenScore(Expr score, const Expr &kv);
  using Combine = std::function<Expr(const Expr &, const Expr &)>;
  static Expr combined(int rows, const std::function<Expr(Expr)> &at,
                       const Combine &combine);
  Expr larger(const Expr &x, const Expr &y) const;
  static Expr withSummary(const Expr &row, int rows,
                          const std::function<Expr(Expr)> &at,
                          const Combine &combine);
  Expr sinkScore() const;
  RVar combineTiles(Func &f, Func &parts, Func &of, const char *name,
                    const Expr &start, const Expr &none,
                    const Combine &combine);
  void findTop();
  void weigh();
  void invert();
  void mix();
  Expr result(const Expr &column, const Expr &lane, const Expr &tile,
              const Expr &stretch, const Expr &of);
  // Tiles of queries in a block; the lane of one of tile t.
  int tiles() const { return queryBlock / mixedTile.rows; }
  Expr laneOf(const Expr &lane) const {
    return t % tiles() * mixedTile.rows + lane;
  }
  // The same of pairs: of head dimensions for scores, of keys for values.
  void transposePairs();
  void scorePairs();
  void weighPairs();
  void mixPairs();
  void scheduleQueryPairs();
  void scheduleScorePairs();
  void scheduleMixedPairs();
  // The same in tile registers: mixed values lie with queries in lanes, and are
  // turned.
  void turnValues();
  void mixInTiles();
  Expr turned(const std::function<Expr(Expr, Expr, Expr)> &valueOf,
              const Expr &local);
  int columnsInTiles() const;
  void scheduleRowsInTiles();
  void scheduleDotsInTiles();
  void scheduleMixedInTiles();
  // What pairs of bf16 and of integers, and tiles, share.
  static Expr halfOf(const Expr &x); // the bits of a bf16
  static Expr wordOfHalves(const Expr &low, const Expr &high);
  static Expr elementOf(const Expr &word, const Expr &half);
  static Expr productOf(const Expr &x, const Expr &y);
  Words wordsNamed(const char *words, const char *pairs);
  void sumWords(Halide::Type type);
  void scheduleQueryWords(int lanesTogether);
  // The same of integers; scores of them may be of bytes.
  bool scoresIntegers() const { return integral || ofBytes; }
  int wordElements() const { return ofBytes ? 4 : 2; } // of a query
  int mostOfDot() const;
  struct Largest {
    Func all, byLane;
    RVar part, lane;
  };
  Largest largestOf(const char *name, int64_t columns,
                    const std::function<Expr(Expr)> &at);
  void transposeIntegers();
  void scoreIntegers();
  void prepareKeys();
  void prepareValues();
  void weighIntegers();
  void mixIntegers();
  void scheduleQueryIntegers();
  void scheduleScoreIntegers();
  void scheduleLargest(Largest &largest, const Halide::ImageParam &from);
  void scheduleMixedIntegers();

  bool widens(const BufferSpec &of) const;
  Expr keyFactor(const Expr &column, const Expr &kv);
  Expr mixedValue(const Expr &kv);
  Expr inTask(const Expr &kv) const;
  Expr valueAt(const Expr &column, const Expr &kv, const Expr &head) const;
  void lookForNan();

  Halide::TailStrategy tail() const;
  int paddedValue() const;
  void oncePerBlock(Func f);
  void perKeyHead(Func f);
  void scheduleWidened(Func f, int64_t columns);
  void lanes(Func f);
  void plane(Func f, const Var &row, int rows, const RVar &tile);
  void inTile(Func f, Func plane, const Var &row, int rows, const RVar &tile);
  Func inStretch(Func f) const;
  void boundOut();
  void scheduleRows();
  void scheduleQueries();
  void scheduleScores();
  void scheduleMixed();
  void scheduleStretches();
  void scheduleOnDevice();
  void scheduleOutOnDevice(int columns);
  void scheduleQueriesOnDevice();
  void scheduleSoftmaxOnDevice();
  RVar scheduleTilesOnDevice(Func f, Func tileOf, const RVar &tile) const;
  void inTileOnDevice(Func f, Func of, const RVar &tile) const;
  Func inGroup(Func f) const;
  void scheduleWorst();

  const KernelSpec &spec;
  const AttentionSpec &s;
  const Names &names;
  const int V;
  const bool device; // one call for all sequences: h counts the heads of all
  const bool inTiles;
  const int queryBlock, keyTile;
  const int together; // heads of a row, side by side; h counts such neighbours
  static constexpr int quad = 4; // queries that are transposed at once
  const Tile mixedTile;
  const bool paired, integral, ofBytes;
  Pipe pipe;
  Halide::ImageParam query, key, value, decay, optional[attentionOperands];
  Halide::Param<int> queries{names("queries")}, keyCount{names("keys")},
      firstOf{names("first")};
  Var d{names("d")}, m{names("m")}, h{names("h")}, q{names("q")}, b{names("b")};
  Var t{names("t")}, u{names("u")}, ki{names("ki")}, ko{names("ko")};
  Var z{names("z")}; // sequences, on a device
  // Loops that others are computed in; on a CPU, a form's.
  Var qo{names("qo")};
  RVar row, block, headsOfKey, keyHead;
  Expr ownHeads;          // the h of an element of out
  Var e{names("e")};      // stretches
  bool stretched = false; // else all keys are stretch 0
  std::string suffix;     // of names
  Expr firstKey = 0;      // of stretch 0, or of chunk 0
  RVar stretch;
  std::vector<Carried> carried;
  Func firstKept, stretchTop, factor, kept;
  Expr keys, first;      // of a sequence; the first query's position
  Expr row0, rowLast;    // of the task
  Expr sequence, keyRow; // its number, its first key's row
  Expr position0;        // of row 0
  Expr head, kvHead; // of h: in its sequence, where it is one head; as h counts
  TurnedHeads turnedQuery, turnedKey;
  Words queryWords, weightWords, valueWords;
  Func valueQuads, mixedQuads;   // four words of pairs of keys; of columns
  Func widenedKey, widenedValue; // [column, key, kv head] of bf16
  Func keyTerm;                  // of products in pairs or of integers
  Func roundedKey, start; // turned keys in bf16; what exponents start from
  Expr lateFactor;        // what scores are multiplied by in the exponential
  RVar depthHalf, valueColumn;
  Largest keyMost, valueMost; // of integers, as what follows
  Func queryMost, queryStep, queryInverse, queryTotal, keyStep, keyIntegers,
      valueInverse, partial;
  RVar queryColumn, queryByte, chunk;
  std::vector<RVar> mixedHalves;
  Var half{names("half")}, kp{names("kp")};
  Func laneRows; // of lane q of block b, where it takes a division to tell
  Func factors, quads, queriesAcross, strip, dots, tileScores, scores, tops,
      top, tileWeights, weights, sums, sum, inverse, mixed, worst, worstOfAll,
      soundKeys;
  RVar depth, scoreTile, weightTile, topTile, sumTile, worstKeys, worstColumns;
  std::vector<RVar> mixedKeys, mixedTiles; // of each update of mixed
};

} // namespace mille

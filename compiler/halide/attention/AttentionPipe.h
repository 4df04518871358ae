// The pipeline of attention and of linear attention: the state that its
// algorithm (Attention.cpp) and its schedule (AttentionSchedule.cpp) share.
// Must not be included outside of this folder.
#pragma once
#include "compiler/halide/Build.h"
#include "compiler/halide/attention/Turn.h"
#include "compiler/halide/attention/Words.h"
#include "runtime/StatePanels.h"

namespace mille {

// A value that one stretch of keys hands to the next: the function that reads
// it and the function that writes it share one memory. `before` has the
// dimensions of `after` without the stretch.
struct Carried {
  Halide::Func before, after;
};

class AttentionPipe {
public:
  AttentionPipe(const KernelSpec &spec, const Machine &machine,
                const Names &names, bool few = false)
      : spec(spec), s(spec.attention), names(names), V(machine.lanes),
        device(machine.device), prefetchesStreams(machine.prefetchesStreams),
        few(few), inTiles(takesTiles(s, machine)),
        queryBlock(device ? mostQueries : 2 * V), keyTile(inTiles ? keyUnitOf(s)
                                                          : machine.wide ? 8
                                                                         : 4),
        headsTogether(device ? 1 : int(s.together())),
        mixedTile(mixedTileOf(s, machine)), paired(takesPairs(s, machine)),
        integral(takesIntegers(s, machine)), ofBytes(takesBytes(s, machine)),
        inBytes(s.key.element == Element::i8), stretchKeys(keysOfStretch(s)) {}
  Pipe build();
  // The parts that stretches of keys give for few queries, and what puts them
  // together.
  Pipe buildParts();
  Pipe buildJoin();

  // Whether the values are the first columns of the keys: a state's one panel
  // is both, and lies as values do.
  static bool valueIsKey(const AttentionSpec &s) {
    return s.panels && s.value.element != Element::i8 &&
           s.value.columns != s.kvHeads * s.valueDim;
  }
  // Whether the operands allow products of pairs: query, key and value are
  // bf16, and a head has an even number of dimensions, more than two
  // (Words.cpp). Where values are keys a pair is of rows, not of dimensions.
  static bool isOfPairs(const AttentionSpec &s);
  // Whether the machine multiplies pairs of bf16, two multiply-adds in a lane.
  static bool takesPairs(const AttentionSpec &s, const Machine &machine);
  // Whether products of pairs are made in tile registers, whose rows are keys
  // for the scores and columns of values for the mixed values.
  static bool takesTiles(const AttentionSpec &s, const Machine &machine);
  // Whether products are of pairs of 16-bit integers.
  static bool takesIntegers(const AttentionSpec &s, const Machine &machine);
  // Whether scores are products of bytes; the mixed values do not depend on it.
  static bool takesBytes(const AttentionSpec &s, const Machine &machine);

  static constexpr double log2e = 1.4426950408889634;
  static constexpr float hidden = -1.5e30f; // the score of a hidden key
  static constexpr float lowest = -1.0e29f; // where a maximum of scores starts
  // A query block is two vectors of lanes; this is the largest of any machine.
  static constexpr int mostQueries = 32;
  // Keys that some machine adds up together: 32 where tile registers may take
  // pairs.
  static int keyUnitOf(const AttentionSpec &s) {
    return isOfPairs(s) ? 32 : s.panels ? MILLE_PANEL_ROWS : 8;
  }
  // Rows of a task at most that are summed with keys in lanes, which reads a
  // key once for each block of queries of one key head; 0: such are none.
  static int fewRowsOf(const AttentionSpec &s);
  static constexpr int items = 8; // work-items of a device that share a query
  // The keys of a stretch (online softmax): the scores and weights of a query
  // block and most of the stretch's keys and values lie in an L2 of 1 MB.
  // Measured (zen5, one thread, 64 columns): stretches of 512 to 1024 keys take
  // 4 % longer for 1100 keys, stretches of 1536 keys 4 % longer for 2048.
  static constexpr int longStretch = 1280;
  // Those of a state's panels are short, so that threads may share them.
  static constexpr int shortStretch = 512;
  static int keysOfStretch(const AttentionSpec &s) {
    return s.panels ? shortStretch : longStretch;
  }

private:
  using Expr = Halide::Expr;
  using Func = Halide::Func;
  using RVar = Halide::RVar;
  using Var = Halide::Var;
  using Operand = AttentionOperand;

  // The register tile of the mixed values: queries x vectors of a value.
  struct Tile {
    int rows, vectors;
  };
  static Tile mixedTileOf(const AttentionSpec &s, const Machine &machine);
  static constexpr int wholePanel = 4; // vectors of a panel, with AVX-512
  // The columns of a head that lies in memory as values do.
  static int64_t columnsOfValue(const AttentionSpec &s) {
    return valueIsKey(s) ? s.headDim : s.valueDim;
  }
  static bool hasPanels(const AttentionSpec &s) { // of columns, more than one
    return s.panels && columnsOfValue(s) > MILLE_PANEL_COLUMNS &&
           columnsOfValue(s) % MILLE_PANEL_COLUMNS == 0;
  }

  bool isLinear() const { return s.decay.has_value(); }
  // Whether each stretch has a largest score and weights of its own: then its
  // values are the same in whichever task it is computed.
  bool isApart() const { return s.panels && !device; }
  Halide::OutputImageParam outBuffer() { return pipe.out.output_buffers()[0]; }
  Func make(const char *name) const {
    return Func(names((name + suffix).c_str()));
  }
  const Halide::ImageParam &at(Operand operand) const {
    return optional[int(operand)];
  }

  void placeRows(const char *form, const Expr &count, const Expr &taken);
  void describe();
  Expr outcome();
  void schedule();
  void declareOperands();
  void placeTask();
  void placeSequences();
  Expr kvHeadInSequence() const;
  Expr rowAt(const Expr &place) const;
  Expr queryRow(const Expr &block, const Expr &lane) const;
  Expr headOf(const Expr &lane) const;
  void findLaneRows();

  // A range of keys; where an end is not defined it is the sequence's end.
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
  Func carriedBefore(Func after, const std::vector<Var> &place);
  void carryTop();
  static Expr joined(const Expr &before, const Expr &factor, const Expr &own,
                     const Expr &ownFactor);
  Expr sumBefore();
  Expr joinedSum();
  Expr keptWith(const Expr &value, const Expr &column, const Expr &lane,
                const Expr &tile, const Expr &stretch, const Expr &of);
  Expr mixedBefore();
  void followStretches();

  Expr keyOf(const Expr &tile) const;
  Expr placeOf(const Expr &tile) const;
  Expr keyElement(const Expr &column, const Expr &kv, const Expr &head) const;
  Expr valueElement(const Expr &column, const Expr &kv, const Expr &head,
                    const Expr &beside) const;
  Expr elementOfValues(const Halide::ImageParam &held, const Expr &column,
                       const Expr &kv, const Expr &head,
                       const Expr &beside) const;
  Expr valuePlace(const Expr &column, const Expr &kv, int pair) const;
  void takeShifts();
  Expr shifted(const Expr &kv, const Halide::ImageParam &held,
               int64_t columns) const;
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
  Expr sinkScore(const Expr &head) const;
  Expr sinkScore() const;
  RVar combineTiles(Func &f, Func &parts, Func &of, const char *name,
                    const Expr &start, const Expr &none,
                    const Combine &combine);
  void findTop();
  void weigh();
  Expr weightOf(const Expr &score) const;
  void sumByLane();
  void declareSumLanes(int each);
  void joinLanes(const std::function<Expr(Expr)> &at);
  static Expr inverseOf(const Expr &sum);
  void invert();
  void mix();
  Expr result(const Expr &column, const Expr &lane, const Expr &tile,
              const Expr &stretch, const Expr &of);
  // The register tiles of a query block, and a lane of register tile t.
  int tiles() const { return queryBlock / mixedTile.rows; }
  Expr laneOf(const Expr &lane, const Expr &tile) const {
    return tile % tiles() * mixedTile.rows + lane;
  }
  Expr laneOf(const Expr &lane) const { return laneOf(lane, t); }
  // By pairs: of head dimensions for scores, of keys for values.
  void transposePairs();
  void scorePairs();
  void weighPairs();
  void findStart();
  Expr weightsOfPair(const Expr &first, const Expr &second);
  void pairValues();
  // The pairs of keys of stretch e that are mixed.
  struct KeyPairs {
    Halide::RDom all;     // [half, pair], or [half, pair of tile, tile]
    Expr first;           // key of a pair
    Expr beside;          // a key of its panel
    Expr ofTile, keyTile; // where its weights are
  };
  KeyPairs pairsOfKeys(const char *name);
  void mixPairs();
  void scheduleQueryPairs();
  void scheduleScorePairs();
  void scheduleValuePairs();
  void scheduleMixedPairs();
  Halide::LoopLevel mixedTileLoop() const;
  // Sums of register tiles, one or several together, and the products of pairs
  // that one update adds.
  void holdTile(Func sums, int together = 1);
  void addPairs(Halide::Stage update, size_t number);
  // For few queries: keys in lanes.
  void takeFew();
  void spreadQueries();
  void leaveOutPanels(Halide::RDom &products) const;
  Expr turnedKeyAt(const Expr &column);
  void findTopOfLanes();
  void weighLanes();
  void weighPairsOfLanes();
  void sumTrees(int leaves, const std::function<Expr(Expr)> &at);
  void scheduleLanes();
  void scheduleQueriesOfLanes();
  void scheduleWordsOfLanes(int each);
  void scheduleScoresOfLanes();
  void scheduleTurnedKeys();
  void scheduleWeightsOfLanes();
  void scheduleTrees();
  void prefetchStreams();
  // What is found by lane, of vectors of a tile.
  void scheduleByLane(Func f, const RVar &vector, const RVar &tile);
  // In tile registers: mixed values lie with queries in lanes, and are
  // transposed on their way out.
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
  // A bf16, or 0 where its weight is 0: it may be no number there.
  static Expr whereWeighed(const Expr &weight, const Expr &x);
  static Expr wordOfHalves(const Expr &low, const Expr &high);
  static Expr elementOf(const Expr &word, const Expr &half);
  static Expr productOf(const Expr &x, const Expr &y);
  static Expr sumOfWord(const Expr &word); // of its halves, in f32
  Words wordsNamed(const char *words, const char *pairs);
  void sumWords(Halide::Type type);
  void scheduleQueryWords(int lanesTogether);
  // The same of integers; scores of them may be of bytes.
  bool scoresIntegers() const { return integral || ofBytes; }
  bool queriesAreBytes() const { return ofBytes || inBytes; }
  int wordElements() const { return queriesAreBytes() ? 4 : 2; } // of a query
  int mostOfDot() const;
  struct Largest {
    Func all, byLane;
    RVar part, lane;
  };
  Largest largestOf(const char *name, int64_t columns,
                    const std::function<Expr(Expr)> &at);
  void transposeIntegers();
  void roundQueries();
  void scoreIntegers();
  void prepareKeys();
  void prepareValues();
  void weighIntegers();
  void mixIntegers();
  // Of a state's bytes.
  static Expr firstByte(const Halide::ImageParam &held, int64_t size,
                        const Expr &head);
  Expr keyPanel(const Expr &kv, const Expr &head) const;
  Expr keyByte(const Expr &column, const Expr &kv, const Expr &head) const;
  Expr valueByte(const Expr &column, const Expr &kv, const Expr &head,
                 const Expr &beside) const;
  Expr stepOfKey(const Expr &kv, const Expr &head);
  Expr stepOfValue(const Expr &kv, const Expr &head);
  void scoreBytes();
  void shareValues();
  void findLargestShare();
  void mixBytes();
  void scheduleQueryBytes();
  void scheduleShares();
  void scheduleMixedBytes();
  void scheduleDotsOfWords();
  void scheduleQueryIntegers();
  void scheduleScoreIntegers();
  void scheduleLargest(Largest &largest, const Halide::ImageParam &from);
  void scheduleMixedIntegers();

  bool widens(const BufferSpec &of) const;
  // Whether few queries widen keys of bf16, two neighbours of a word together.
  bool widensWords() const {
    return few && !paired && isBf16(s.key.element) && s.headDim % 2 == 0 &&
           !valueIsKey(s);
  }
  // How many keys, whose values share words, few queries mix together.
  int keysOfWord() const {
    return few && !paired && s.panels && isBf16(s.value.element) ? 2 : 1;
  }
  // Whether few queries turn keys that lie as values do.
  bool turnsKeys() const { return few && valueIsKey(s) && s.headDim % V == 0; }
  Expr keyFactor(const Expr &column, const Expr &kv);
  Expr mixedValue(const Expr &kv, const Expr &beside);
  Expr halfOfValues(const Expr &half, const Expr &first,
                    const Expr &beside) const;
  Expr inTask(const Expr &kv) const;
  Expr valueAt(const Expr &column, const Expr &kv, const Expr &head,
               const Expr &beside) const;
  Expr firstUnseen();
  Expr isUnseen(const Expr &kv) const;
  void lookForNan();

  Halide::TailStrategy tail() const;
  int paddedValue() const;
  void oncePerBlock(Func f);
  void perKeyHead(Func f);
  void scheduleWidened(Func f, int64_t columns);
  void lanes(Func f);
  void plane(Func f, const Var &row, int rows, const RVar &tile);
  void inTile(Func f, Func plane, const Var &row, int rows, const RVar &tile);
  Func home() const { return stretched && !few ? kept : pipe.out; }
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
  const bool device; // one call has all sequences: h counts all their heads
  const bool prefetchesStreams; // as in Machine
  const bool few;               // parts of few queries, with keys in lanes
  const bool inTiles;
  int queryBlock, keyTile;
  int treeKeys = 0; // keys whose weights are added up as a tree
  // Neighbouring heads that lie side by side in a query block (grouped query
  // attention); h counts groups of so many heads.
  const int headsTogether;
  static constexpr int quad = 4; // queries that are transposed at once
  Tile mixedTile;
  const bool paired, integral, ofBytes;
  const bool inBytes; // keys and values are; then so are queries, for scores
  const int stretchKeys;
  Pipe pipe;
  Halide::ImageParam query, key, value, decay, optional[attentionOperands];
  Halide::ImageParam past;   // on a device: rows of each sequence's state
  Halide::ImageParam shifts; // of panels, in sequences (abi.h)
  Halide::Param<int> queries{names("queries")}, keyCount{names("keys")},
      firstPosition{names("first")};
  Var d{names("d")}, m{names("m")}, h{names("h")}, q{names("q")}, b{names("b")};
  Var t{names("t")}, u{names("u")}, ki{names("ki")}, ko{names("ko")};
  Var z{names("z")}; // sequences, on a device
  // Loops that other functions are computed in: a device's loop over query
  // blocks, and on a CPU the loops of one form of the algorithm.
  Var qo{names("qo")};
  RVar row, block, queryTile, headsOfKey, keyHead;
  Expr outHeads;          // the h of an element of the out
  Var e{names("e")};      // stretch
  bool stretched = false; // false: all keys are stretch 0
  std::string suffix;     // of this form's names
  Expr firstKey = 0;      // of stretch 0, or of chunk 0
  RVar stretch;
  std::vector<Carried> carried;
  Func keySquare, turnedKeys;
  Func topLanes, treeSums; // of keys in lanes
  Func sumLanes;           // of stretches that are apart
  std::vector<Func> treeLevels;
  RVar topVector, sumVector, treeOfTile;
  std::vector<RVar> sumTiles; // trees, tiles
  Func firstKept, firstHidden, stretchTop, factor, kept;
  Func highest, ownFactor, total; // of stretches that are apart
  RVar keptKey, hiddenKey;
  Expr keys, first;      // keys of a sequence; position of its first query
  Expr row0, rowLast;    // the task's rows
  Expr sequence, keyRow; // the task's sequence, and the row of its first key
  Expr position0;        // the position of row 0
  Expr head;             // the head that h stands for, where h is one head
  Expr kvHead;           // the key head that h reads, counted as h is
  TurnedHeads turnedQuery, turnedKey;
  Words queryWords, weightWords, valueWords;
  Func valueQuads, mixedQuads;   // four words of pairs of keys; four columns
  Func widenedKey, widenedValue; // [column, key, kv head] of bf16
  Func keyTerm;    // added to a key's scores; of pairs and of integers
  Func roundedKey; // rotated keys in bf16
  Func start;      // subtracted from scores before the exponential
  Expr lateFactor; // multiplies scores in the exponential, not before
  RVar depthHalf, depthPart, valueColumn;
  // Of products of integers:
  Largest keyMost, valueMost;
  Func queryMost, queryStep, queryInverse, queryTotal, keyStep, keyIntegers,
      valueInverse, partial;
  // Of bytes; a share is a weight times the step of its value:
  Func valueStep, shares, shareLanes, shareMost, shareInverse, shareStep;
  RVar shareTile, shareKey, mostTile, wordTile;
  RVar queryColumn, queryByte, chunk;
  std::vector<RVar> mixedHalves;
  RVar mixedWord; // the keys of a word of values
  Var half{names("half")}, kp{names("kp")};
  Func laneRows; // the row of lane q of block b, where a division finds it
  Func factors, quads, queriesAcross, strip, dots, tileScores, scores, tops,
      top, tileWeights, weights, sums, sum, inverse, mixed, worst, worstOfAll,
      soundKeys;
  RVar depth, scoreTile, weightTile, topTile, sumTile, worstKeys, worstColumns;
  std::vector<RVar> mixedKeys, mixedTiles; // one for each update of mixed
};

} // namespace mille

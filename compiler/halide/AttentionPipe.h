// The pipeline of attention, and of linear attention: what its algorithm
// (Attention.cpp) and its schedule (AttentionSchedule.cpp) share. Private to these.
#pragma once
#include "compiler/halide/Build.h"
#include "compiler/halide/Turn.h"

namespace mille {

class AttentionPipe {
public:
  AttentionPipe(const KernelSpec &spec, const Machine &machine, const Names &names)
      : spec(spec), s(spec.attention), names(names), V(machine.lanes),
        queryBlock(2 * V), keyTile(machine.wide ? 8 : 4),
        mixedTile(mixedTileOf(s, machine)) {}
  Pipe build();

  // A query block is two vectors of lanes; these are the most of any machine.
  static constexpr int mostQueries = 32, mostKeys = 8;

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
  Func make(const char *name) const { return Func(names(name)); }
  const Halide::ImageParam &at(Operand operand) const { return optional[int(operand)]; }

  void declareOperands();
  void placeTask();
  Expr queryRow(const Expr &block, const Expr &lane) const;

  // Keys; an end that is not defined is the sequence's.
  struct Range {
    Expr first, last;
  };
  Range seenFrom(const Expr &position) const;
  Range seenByBlock(const Expr &block) const;
  Range seenByTile(int lane) const;
  Expr isKept(const Expr &kv) const;
  Expr isSeen(const Expr &block, const Expr &lane, const Expr &kv) const;
  Halide::RDom keysOf(const char *name, const Range &range) const;
  Halide::RDom tilesOf(const char *name, const Expr &block) const;

  TurnedHeads turn(const Halide::ImageParam &input, int64_t offset,
                   const Expr &firstRow, const char *name) const;
  void transposeQueries();
  Expr byDistance(const Expr &kv, const std::function<Expr(Expr)> &value);
  Expr biasesOf(const Expr &kv);
  void score();
  Expr chosenScore(Expr score, const Expr &kv, bool bias);
  Expr atKey(Func &f, const Expr &lane, const Expr &r, const Expr &block) const;
  Expr ofTile(Func &f, const Expr &tile,
              const std::function<Expr(Expr, Expr)> &combine) const;
  void weigh();
  void mix();
  Expr valueAt(const Expr &column, const Expr &kv, const Expr &head) const;
  void lookForNan();

  Halide::TailStrategy tail() const;
  void perKeyHead(Func f);
  void lanes(Func f);
  void plane(Func f, const RVar &tile);
  void scheduleOut();
  void scheduleQueries();
  void scheduleScores();
  void scheduleMixed();

  const KernelSpec &spec;
  const AttentionSpec &s;
  const Names &names;
  const int V, queryBlock, keyTile;
  static constexpr int quad = 4; // queries that are transposed at once
  const Tile mixedTile;
  Pipe pipe;
  Halide::ImageParam query, key, value, decay, optional[attentionOperands];
  Halide::Param<int> queries{names("queries")}, keyCount{names("keys")},
      firstOf{names("first")};
  Var d{names("d")}, m{names("m")}, h{names("h")}, q{names("q")}, b{names("b")};
  Var t{names("t")}, u{names("u")}, ki{names("ki")}, ko{names("ko")};
  Var qo{names("qo")}, hk{names("hk")}; // loops that others are computed in
  Expr keys, first;      // of a sequence; the first query's position
  Expr row0, rowLast;    // of the task
  Expr sequence, keyRow; // its number, its first key's row
  Expr position0;        // of row 0
  Expr kvHead;
  TurnedHeads turnedQuery, turnedKey;
  Func factors, quads, queriesAcross, strip, dots, scores, top, weights, sum, inverse,
      mixed, worst, worstOfAll, soundKeys;
  RVar depth, scoreTile, weightTile, topTile, sumTile, worstKeys, worstColumns;
  std::vector<RVar> mixedKeys; // of each update of mixed
};

} // namespace mille

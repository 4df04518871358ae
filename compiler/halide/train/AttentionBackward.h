// Attention's backward pass on Halide: what its algorithm and its schedule
// share.
// Must not be included outside of compiler/halide.
#pragma once
#include "compiler/halide/Build.h"
#include "compiler/halide/attention/Words.h"

namespace mille {

// Whether a block has few queries: such blocks leave more keys out that a
// causal query does not see, and a short run does not fill others.
inline bool halvesBlocks(const KernelSpec &spec) {
  return spec.attentionBackward.forward.causal ||
         spec.attentionBackward.shortRuns;
}

class AttentionBackward {
public:
  AttentionBackward(const KernelSpec &spec, const Machine &machine,
                    const Names &names)
      : spec(spec), s(spec.attentionBackward.forward), names(names),
        V(machine.lanes), vectors(machine.wide ? 4 : 2),
        sums(machine.wide ? 16 : 8), pairs(takesPairs(spec, machine)),
        together((halvesBlocks(spec) ? 2 : vectors) * machine.lanes) {}

  Pipe build();

private:
  // What leads to the gradients, of one block of queries: functions of (query
  // in the block, key, block, head).
  struct Steps {
    Halide::Func querySquare, gradientSquare, queryAcross, gradientAcross,
        keyRows, valueRows, dot, scores, top, weights, sum, inverse, normal,
        product, products, delta, slopes, ofScores, ofSink, ofQuery;
    Halide::RVar depth, valueDepth, topKey, sumKey, deltaKey;
  };
  // Two bf16 side by side, of which one instruction adds the products: columns
  // of queries and of the out's gradient for scores, else keys or queries.
  struct Pairs {
    Words query, gradient, slopes;
    Halide::Func keys, queries, gradients, slopesOfKey, normalOfKey;
    Halide::RVar depth, valueDepth, key;
  };

  Halide::Func make(const char *name) const {
    return Halide::Func(names(name));
  }
  // The keys that some query of block b sees.
  Halide::RDom seenKeys(const char *name) const {
    Halide::RDom r(0, keys, names(name));
    limit(r, r, b);
    return r;
  }
  void limit(Halide::RDom &r, const Halide::Expr &key,
             const Halide::Expr &block) const {
    if (s.causal)
      r.where(key < (block + 1) * together);
  }

  void declareOperands();
  Halide::Expr rowOf(const Halide::Expr &block,
                     const Halide::Expr &lane) const {
    return min(block * together + lane, queries - 1);
  }
  Halide::Expr isSeen() const;
  const Halide::ImageParam &at(AttentionOperand operand) const {
    return optional[int(operand)];
  }
  Halide::Expr sinkOf() const;
  bool hasBiases() const;
  Halide::Expr biases() const;
  // The register tiles of a gradient, and the columns that whole ones have.
  int columnsOfTile(int width) const {
    return (width % (vectors * V) ? 2 : vectors) * V;
  }
  int rowsOfTile(int width) const { return sums / (columnsOfTile(width) / V); }
  int paddedWidth(int width) const {
    const int columns = columnsOfTile(width);
    return (width + columns - 1) / columns * columns;
  }
  static bool takesPairs(const KernelSpec &spec, const Machine &machine);
  void across(Halide::Func &f, Halide::Func &square,
              const Halide::ImageParam &of, int offset, int width);
  void pairAcross(Words &words, Halide::Func &square,
                  const Halide::ImageParam &of, int offset, int width);
  // dots(i, j, b, h) = sum over the columns of a query and of a key.
  void addDots(Halide::Func &dots, Halide::RVar &depth,
               const Halide::Func &across, const Halide::Func &rows, int width);
  void addDotsOfPairs(Halide::Func &dots, Halide::RVar &part,
                      Halide::RVar &depth, const Words &across,
                      const Halide::Func &rows, int width);
  void pairRows();
  void pairFactors();
  void weigh();
  void differ();
  // Innermost first: rows of a tile, terms, tiles, blocks of queries, heads.
  struct Sum {
    Halide::RDom all;
    Halide::RVar row, term, tile, block, head;
    bool inPairs = false; // of terms
    Halide::RVar part = {};
  };
  Sum sumOver(const Halide::Expr &rows, const Halide::Expr &tiles,
              const Halide::Expr &terms);
  Sum sumOfPairs(const Halide::Expr &rows, const Halide::Expr &tiles,
                 const Halide::Expr &pairsOfTerms);
  void addQueries();
  void addKeyBias();
  void addBias();
  void addSink();
  Halide::Func ofKeys(const char *name, int width, const BufferSpec &buffer);
  void addKeys(const char *name, const Halide::Func &factor,
               const Halide::ImageParam &of, int offset, int width,
               const BufferSpec &buffer);
  void addKeysOfPairs(const char *name, const Halide::Func &factor,
                      const Halide::Func &of, int width,
                      const BufferSpec &buffer);
  void addTileOfQueries(Halide::Func &tile);
  void addTileOfQueryPairs(Halide::Func &tile);
  void join(Halide::Func &f, const Sum &sum);
  // The last stage of a gradient by register tiles. Gives the loop over their
  // columns.
  Halide::Var scheduleTiles(Halide::Func &f, const Sum &sum, int width);
  void scheduleSums(Halide::Func &f, const Sum &sum, int width);
  void scheduleAcross(Halide::Func &f, Halide::Func &square,
                      const Halide::ImageParam &of, int width);
  void scheduleRows(Halide::Func &f, const Halide::ImageParam &of, int width);
  void scheduleSteps();
  void schedulePairs();
  void scheduleWords(Words &words, Halide::Func &square,
                     const Halide::ImageParam &of, int width);
  // `part` is that of a pair, where pairs are added.
  void scheduleDots(Halide::Func &dots, const Halide::RVar &part,
                    const Halide::RVar &depth, Halide::Func &reader);
  static void placeHeads(Halide::Func &f, const BufferSpec &buffer, int width);

  const KernelSpec &spec;
  const AttentionSpec &s;
  const Names &names;
  // The most vectors of a tile's row, and the vectors of its sums.
  const int V, vectors, sums;
  const bool pairs;   // whether pairs of bf16 are added
  const int together; // queries of a block
  Pipe pipe;
  Halide::ImageParam query, key, value, gradient, optional[attentionOperands];
  Halide::Param<int> queries{names("queries")}, keys{names("keys")};
  Halide::Expr blocks;
  Steps steps;
  Pairs paired;
  Halide::RVar head, block;
  Halide::Var i{names("i")}, j{names("j")}, b{names("b")}, h{names("h")},
      c{names("c")}, m{names("m")}, p{names("p")}, half{names("half")};
};

} // namespace mille

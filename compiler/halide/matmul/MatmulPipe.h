// The pipeline of matmul: the state that its algorithm (Matmul.cpp,
// MatmulBlocks.cpp, MatmulDevice.cpp) and its schedule (MatmulSchedule.cpp)
// share.
// Must not be included by any other file.
#pragma once
#include "compiler/halide/Build.h"
#include "compiler/halide/device/DeviceTiles.h"
#include "compiler/halide/matmul/Tiles.h"

namespace mille {

class MatmulPipe {
public:
  MatmulPipe(const KernelSpec &spec, const Machine &machine, const Names &names,
             bool few, unsigned rank, bool inRows);
  Pipe build();

private:
  using Expr = Halide::Expr;
  using Func = Halide::Func;
  using RDom = Halide::RDom;
  using Var = Halide::Var;

  Func make(const char *name) const { return Func(names(name)); }

  std::string extraName(size_t i) const {
    return names(("extra" + std::to_string(i)).c_str());
  }

  void declareOperands();
  void placeRows();
  Expr isRow(const Expr &i, const Expr &t) const;
  Expr isShared(const Expr &i, const Expr &t) const;
  Expr inTileOfAll(const Expr &i, const Expr &t) const;
  Expr rowAt(const Expr &i, const Expr &t) const;
  void multiply();
  void multiplyOnDevice();
  Expr wordAt(const Expr &x, const Expr &y, const Expr &z) const;
  Expr weightRow(const Expr &x, const Expr &z) const;
  Expr sumAt(const Expr &x, const Expr &z) const;
  Expr startOf(const Expr &row, const Expr &column, const Expr &at) const;
  void declareBlocks();
  Expr levelAt(const Expr &b, const Expr &x, const Expr &y) const;
  Expr levelOf(const Expr &x, const Expr &y) const;
  Expr byteAt(const Expr &b, const Expr &at) const;
  Expr stepAt(const Expr &b, int64_t place) const;
  Expr scaleAt(const Expr &b, int part) const;
  Expr leastAt(const Expr &b) const;
  Expr startAt(const Expr &b, const Expr &part, const Expr &start) const;
  void multiplyBlocks();
  void sumPairs(const Expr &there);
  void layRowsBeside();
  Expr inputAt(const Expr &b, const Expr &x, const Expr &row) const;
  Expr ofInput(int kind, const Expr &b, const Expr &row) const;
  Expr ofLevels(const Expr &sum) const;
  std::vector<Var> inBlock() const;
  void sumBlocksInTiles(const Expr &there);
  void sumBlocksInVectors(const Expr &start, const Expr &there);
  int blocksAtOnce() const;
  void scheduleBlockTiles();
  void scheduleLevels();
  void scheduleBlocks();
  void schedulePairs();
  void prefetchBlocks();
  Expr outlierColumn(const Expr &row) const;
  Expr outlierOf(const Expr &row, const Expr &outlierWeight) const;
  Expr outlierWeightAt(const Expr &row, int accumulator) const;
  void pickOutlierWeights();
  Expr valueOf(const std::vector<Expr> &place, int accumulator,
               const Expr &row) const;
  Expr argument(int accumulator, const Expr &row) const;
  void finish();

  Expr lastRow() const;
  Expr rowRead() const;
  Expr columnInPanel() const;
  Expr panelNumber() const;
  void schedule();
  void placeTile(Func f, const Halide::LoopLevel &at, int rows);
  void scheduleTile(Func f, const Halide::LoopLevel &at, int rows);
  void scheduleValues();
  void scheduleSums();
  void widenRows();
  void multiplyHalves();
  void scheduleHalves();
  void scheduleWideRows();
  void parkSlices();
  void scheduleSlice(Func f);
  int groupedSteps() const;
  int prefetchedLines() const;
  void addPasses();
  void prefetchExtras();
  void sumInTiles();

  const KernelSpec &spec;
  const MatmulSpec &s;
  const Names &names;
  const bool device, fewRows; // the target, the row class
  const bool inRows;  // the weight lies in rows of words, and is read in panels
  const bool isSmall; // the weight: Tiles.h
  // Pairs of bf16, for which the CPU has no multiply-add, are widened to f32:
  // rows once a tile, weights as they are multiplied.
  const bool widens;
  // Sums of bytes stand in two halves, of pairs of products: MatmulBytes.cpp.
  const bool inHalves;
  // One instruction multiplies and adds a group of the input's values, or f32.
  const bool oneInstruction;
  // As in Machine.
  const bool prefetchesIntoL2, picks, looksFar, foresees, prefetchesStreams,
      oneStream;
  const bool rowsBeside; // laysRowsBeside (Tiles.h)
  // One launch holds the rows of all experts (devices only).
  const bool byExpert;
  const DeviceTile deviceTile;
  const MatmulTile tile; // on a device: the tile of one item
  // Tile registers hold the sums while K is summed, of blocks while some are;
  // what comes next reads them from L1.
  const bool inTiles;
  const int chunk; // steps of K that every tile does before any tile does more
  const int V, K, panel, panels, accumulators;
  const int group, steps;   // K is `steps` steps of `group` values
  const int width;          // columns of the out in one panel
  const int slices;         // tiles across a panel
  const bool readsWords;    // a group of values is read as one word of 32 bits
  const bool pipelined;     // software-pipelined tiles: PipelineTiles.h
  const bool vectorPieces;  // the pipeline's pieces are vectors, not rows
  const int rowsOfPiece;    // a piece's rows: 1, or all of a tile
  const bool hasRowClasses; // few rows have a kernel of their own
  const bool keepsLevels;   // Tiles.h
  const bool parksSums;     // the epilogue is a loop over sums that lie in L1
  const int leastRows;      // of a tile, while the rows make whole tiles
  const bool
      hasShortTiles; // the rows may be so few that the last tile is short
  Pipe pipe;
  Halide::ImageParam input, weight, parameters, sums;
  Halide::ImageParam expertRows; // [1]: rows of the work-group's expert
  Var n{names("n")}, m{names("m")};
  // A place in a tile: column, accumulator, row; the tile's number down and
  // across.
  Var ni{names("ni")}, a{names("a")}, i{names("i")}, t{names("t")},
      no{names("no")};
  Var slice{names("slice")}; // a vector of a panel's columns
  std::vector<Var> inTile;
  // How rows are shared among tiles: the first `tallTiles` tiles have
  // `rowsPerTile` + 1 rows, the others `rowsPerTile`.
  Expr rowsPerTile, tallTiles;
  Expr lacksOneRow; // rowsPerTile is tile.rows - 1, not tile.rows - 2
  Expr lastIsWhole; // the last tile is not shorter than rowsPerTile
  RDom tileRows;    // row in a tile, tile
  Func wide;        // a tile's rows in f32, or in 16 bits
  RDom wideRows;    // column, row in a tile
  RDom k, rest;     // the steps of K, and the values of K after the last step
  RDom blocks;      // of a weight in blocks; k is then a block's values
  Halide::RVar someBlocks{names("some_blocks")}, ofSome{names("of_some")};
  Func beside, parametersBeside;            // the rows, block by block
  Func dot;                                 // the sum of a block's products
  Var b{names("b")}, share{names("share")}; // block, part that has a scale
  Func levels; // a panel's, as they are multiplied, for all its tiles
  Var byte{names("byte")}, groupOfBlock{names("group")}; // a place in levels
  Func pairs; // sums of two products, where no instruction adds four
  Var half{names("half")}, piece{names("piece")}; // of a group; of a part
  RDom halvesOf;    // a group's halves, a part's pieces
  int together = 0; // groups of a piece
  Func product, parking;
  Var l{names("l")}, part{names("part")}; // lane of a vector, part of a group
  Func shifts, outlierWeights; // the weights that meet the outliers of a tile
  Func values; // dequantised sums, where a loop before the epilogue makes them
  Halide::RVar rowGroup{names("row_group")}, rowInGroup{names("row_in_group")};
  Func starts;         // the zeros' share of each sum, where sums start at 0
  Func rows, panelsOf; // copies of inputs that a work-group may hold closer
};

} // namespace mille

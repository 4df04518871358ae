// The pipeline of matmul: what its algorithm (Matmul.cpp) and its schedule
// (MatmulSchedule.cpp) share. Private to these.
#pragma once
#include "compiler/halide/Build.h"
#include "compiler/halide/device/DeviceTiles.h"
#include "compiler/halide/matmul/Tiles.h"

namespace mille {

class MatmulPipe {
public:
  MatmulPipe(const KernelSpec &spec, const Machine &machine, const Names &names,
             bool few, unsigned rank);
  Pipe build();

private:
  using Expr = Halide::Expr;
  using Func = Halide::Func;
  using RDom = Halide::RDom;
  using Var = Halide::Var;

  Func make(const char *name) const { return Func(names(name)); }

  void declareOperands();
  void placeRows();
  Expr isRow(const Expr &i, const Expr &t) const;
  Expr isShared(const Expr &i, const Expr &t) const;
  Expr inTileOfAll(const Expr &i, const Expr &t) const;
  Expr rowAt(const Expr &i, const Expr &t) const;
  void multiply();
  void multiplyOnDevice();
  Expr startOf(const Expr &row, const Expr &column, const Expr &at) const;
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
  int groupedSteps() const;
  void addPasses();
  void sumInTiles();

  const KernelSpec &spec;
  const MatmulSpec &s;
  const Names &names;
  const bool device, few;
  const bool
      oneInstruction; // multiplies and adds a group of the input's values
  const bool inTiles; // sums are in tile registers, and for the epilogue in L1
  const bool intoL2, picks; // see Machine
  const bool byExpert;      // on a device, where a launch has the rows of all
  const DeviceTile deviceTile;
  const MatmulTile tile; // of a device: its item's
  const int chunk; // steps of K that all tiles do before any does the next
  const int V, K, panel, panels, count; // of accumulators
  const int group, steps;               // steps of K, `group` values each
  const int width;                      // out columns of a panel
  const int slices;                     // tiles across a panel
  const bool words;     // a group of values is read as a word of 32 bits
  const bool pipelined; // epilogues between products: PipelineTiles.h
  const bool apart;     // and a row's vectors are pieces by themselves
  const bool parked;    // they are a loop over a tile in L1
  const int leastRows;  // of a tile, but where some are left over
  const bool anyRows;   // also so few that one tile has less than the others
  Pipe pipe;
  Halide::ImageParam input, weight, parameters, sums;
  Halide::ImageParam own; // [1]: rows of the group's expert
  Var n{names("n")}, m{names("m")};
  // In a tile: column, accumulator, row; its number down and across.
  Var ni{names("ni")}, a{names("a")}, i{names("i")}, t{names("t")},
      no{names("no")};
  std::vector<Var> inTile;
  Expr high;  // as many tiles have at least one row less than the most
  Expr fewer; // rows of a tile; of `taller` tiles, the first ones, one more
  Expr taller;
  Expr whole;    // the last tile has no fewer
  RDom tileRows; // row in a tile, tile
  RDom k, rest;  // steps of K, and the values that make no step
  Func product, parking;
  Var l{names("l")}, part{names("part")}; // lane of a vector, part of a group
  Func shifts, outlierWeights; // of a tile, the weights at its rows' outliers
  Func values; // of sums, where they are made before the epilogue takes them
  Halide::RVar rowsTogether{names("rows_together")},
      rowOfThese{names("row_of_these")};
  Func starts;         // what the rows' zeros add, where sums start at 0
  Func rows, panelsOf; // what a device's groups may bring closer
};

} // namespace mille

// RoPE on Halide: heads of rows turned beside their source, for attention's
// prologue and for a kernel of its own. Private to this room.
#pragma once
#include "compiler/halide/Build.h"

#include <functional>

namespace mille {

// n angles from dimension `start` of a head on.
struct Turning {
  int64_t headDim = 0, angles = 0, start = 0;
  bool interleaved = false;
  bool isWhole() const { return 2 * angles == headDim; }
};

class TurnedHeads {
public:
  using Source = std::function<Halide::Expr(
      Halide::Expr column, Halide::Expr row, Halide::Expr head)>;
  TurnedHeads() = default;
  // source(column, row, head); row `firstRow + row` of `rotation` turns it.
  TurnedHeads(const Turning &turning, const Source &source,
              const Halide::ImageParam &rotation, const Halide::Expr &firstRow,
              const Names &names, const char *name);

  Halide::Expr at(const Halide::Expr &d, const Halide::Expr &row,
                  const Halide::Expr &head) const;
  // To be computed somewhere; `vectorize` does the rest.
  Halide::Func rows;
  void vectorize(int lanes);
  // The same on a device: each stage's loops over dimensions and rows are given
  // to `loops`. Whole heads may as well be computed where they are read.
  using Loops =
      std::function<void(Halide::Stage, Halide::VarOrRVar, Halide::VarOrRVar)>;
  void spread(const Loops &loops);
  bool isWhole() const { return turning.isWhole(); }

private:
  Turning turning;
  std::vector<Halide::RVar> across; // angles, where only some dimensions turn
};

// The widest vector of at most `lanes` that divides `columns`: no tail to
// guard.
int lanesFor(int64_t columns, int lanes);

} // namespace mille

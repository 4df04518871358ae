// RoPE on Halide: rotated copies of heads, for attention's prologue and for
// kernel.rotate. Must not be included outside of compiler/halide.
#pragma once
#include "compiler/halide/Build.h"

#include <functional>

namespace mille {

// Rotates the 2 * angles dimensions of a head from `start` on.
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
  // Row `row` of source(column, row, head) is rotated by row `firstRow + row`
  // of `rotation`.
  TurnedHeads(const Turning &turning, const Source &source,
              const Halide::ImageParam &rotation, const Halide::Expr &firstRow,
              const Names &names, const char *name);

  Halide::Expr at(const Halide::Expr &d, const Halide::Expr &row,
                  const Halide::Expr &head) const;
  // The caller says where `rows` is computed; `vectorize` does the rest.
  Halide::Func rows;
  void vectorize(int lanes);
  // On a device: gives each stage's loops over dimensions and over rows to
  // `loops`. Heads that rotate as a whole may also be computed where they are
  // read.
  using Loops =
      std::function<void(Halide::Stage, Halide::VarOrRVar, Halide::VarOrRVar)>;
  void spread(const Loops &loops);
  bool isWhole() const { return turning.isWhole(); }

private:
  Turning turning;
  std::vector<Halide::RVar> across; // angles, where a part of the head rotates
};

// The widest vector of at most `lanes` that divides `columns`: no tail to
// guard.
int lanesFor(int64_t columns, int lanes);

} // namespace mille

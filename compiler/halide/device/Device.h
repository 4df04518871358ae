// Schedules for devices: what belongs to a work-group and what to a work-item.
// The algorithms are those of the CPU.
// Must not be included outside of compiler/halide.
#pragma once
#include "compiler/halide/Build.h"
#include "compiler/halide/device/DeviceTiles.h"

namespace mille {

// The loop nest of a matmul: a work-item sums `product` in registers; `park`,
// where there is one, holds the sums for an epilogue that is a loop.
struct DeviceMatmul {
  Halide::Func out, product, park;
  Halide::Func rows,
      panels; // what is multiplied: (k, m), (column, step, panel)
  Halide::Var n, m, ni, a, no;
  Halide::RVar k;
  int columns, accumulators;
  int group;   // of K in a step
  bool inRows; // steps of a column lie side by side, not columns of a step
};
void scheduleOnDevice(DeviceMatmul nest, const DeviceTile &tile, Pipe &pipe);

// A work-group for each group of a row's columns; its work-items share `sums`.
struct DeviceRows {
  Halide::Func out;
  Halide::Var n, m, g;
  int columns, group, items;
};
void scheduleRowGroups(DeviceRows rows, std::vector<Halide::Func> &sums);

// A work-item for each element of `out`, with rows in the second dimension.
// Returns the loop over work-items.
Halide::Var scheduleElements(Halide::Func out, const Halide::Var &n,
                             const Halide::Var &m);

} // namespace mille

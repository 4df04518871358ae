// Schedules for devices of work-groups: what is a group's, what an item's.
// Private to this room; the algorithms are the CPU's.
#pragma once
#include "compiler/halide/Build.h"
#include "compiler/halide/device/DeviceTiles.h"

namespace mille {

// The loop nest of a matmul: `product` is summed in an item's registers;
// `park`, where there is one, holds it for an epilogue that is a loop.
struct DeviceMatmul {
  Halide::Func out, product, park;
  Halide::Func rows,
      panels; // what is multiplied: (k, m), (column, step, panel)
  Halide::Var n, m, ni, a, no;
  Halide::RVar k;
  int columns, accumulators;
  int group; // of K in a step
};
void scheduleOnDevice(DeviceMatmul nest, const DeviceTile &tile, Pipe &pipe);

// A work-group for each group of a row's columns; `sums` are shared by its
// items.
struct DeviceRows {
  Halide::Func out;
  Halide::Var n, m, g;
  int columns, group, items;
};
void scheduleRowGroups(DeviceRows rows, std::vector<Halide::Func> &sums);

// Every element of `out` by an item of its own, rows in the second dimension.
// Gives the items' loop.
Halide::Var scheduleElements(Halide::Func out, const Halide::Var &n,
                             const Halide::Var &m);

} // namespace mille

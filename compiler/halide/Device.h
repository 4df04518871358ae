// Schedules for devices of work-groups: what is a group's, what an item's.
// Private to this room; the algorithms are the CPU's.
#pragma once
#include "compiler/halide/Build.h"

namespace mille {

// What one work-item computes of a matmul, and how many make a work-group.
struct DeviceTile {
  int rows, columns;            // of an item, in every accumulator
  int itemsAcross, itemsDown;   // in a group
};
DeviceTile deviceTileOf(const MatmulSpec &matmul);

// The loop nest of a matmul: `product` is summed in an item's registers; `park`,
// where there is one, holds it for an epilogue that is a loop.
struct DeviceMatmul {
  Halide::Func out, product, park;
  Halide::Var n, m, ni, a, no;
  Halide::RVar k;
  int columns, accumulators;
};
void scheduleOnDevice(DeviceMatmul nest, const DeviceTile &tile);

// A work-group for each group of a row's columns; `sums` are shared by its items.
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

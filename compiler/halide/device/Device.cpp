// Device schedules of matmul and of kernels with a work-item for each element.
// Must not change what is computed.
#include "compiler/halide/device/Device.h"

#include "compiler/halide/passes/ItemRegisters.h"

using namespace Halide;

namespace mille {

namespace {

// Work-items compute independently; shared reads come from the cache.
void scheduleAlone(DeviceMatmul &d, const DeviceTile &tile, const Var &nt) {
  d.product.compute_at(d.out, nt)
      .store_in(MemoryType::Register)
      .bound_extent(d.ni, tile.columns)
      .bound_extent(d.a, d.accumulators)
      .bound_extent(d.no, 1)
      .bound_extent(d.m, tile.rows)
      .vectorize(d.ni)
      .unroll(d.a)
      .unroll(d.m);
  d.product.update()
      .reorder(d.ni, d.a, d.m, d.no, d.k)
      .vectorize(d.ni)
      .unroll(d.a)
      .unroll(d.m);
  if (d.product.num_update_definitions() > 1) // what is left of K
    d.product.update(1).vectorize(d.ni).unroll(d.a).unroll(d.m);
}

// A work-group copies some steps of its rows and of its panel into local
// memory; then each work-item multiplies its part of them.
void scheduleTogether(DeviceMatmul &d, const DeviceTile &tile, const Var &nb,
                      Pipe &pipe) {
  const int groupRows = tile.rows * tile.itemsDown;
  Var mt(d.m.name() + "_item"), mi(d.m.name() + "_i");
  auto item = [&](Stage stage) {
    stage.split(d.m, mt, mi, tile.rows)
        .vectorize(d.ni)
        .unroll(d.a)
        .unroll(mi)
        .gpu_threads(d.no, mt);
  };
  d.product.compute_at(d.out, nb)
      .store_in(MemoryType::Register)
      .bound_extent(d.ni, tile.columns)
      .bound_extent(d.a, d.accumulators)
      .bound_extent(d.no, tile.itemsAcross)
      .bound_extent(d.m, groupRows);
  item(d.product);
  d.product.reorder(d.ni, d.a, mi, d.no, mt);
  RVar ko(d.k.name() + "_o"), ki(d.k.name() + "_i");
  Stage update = d.product.update();
  update.split(d.k, ko, ki, tile.steps, TailStrategy::GuardWithIf);
  item(update);
  update.reorder(d.ni, d.a, mi, ki, d.no, mt, ko);
  if (d.product.num_update_definitions() > 1) {
    item(d.product.update(1));
    d.product.update(1).reorder(d.ni, d.a, mi, d.no, mt);
  }
  pipe.passes.push_back(itemRegisters(
      d.product.name(), tile.rows * tile.columns * d.accumulators));

  // Rows lie side by side: an item reads all of its own at once.
  auto bring = [&](Func f, const Var &x, int across, const Var &y, int down,
                   int vector) {
    Var xi(x.name() + "_i"), xt(x.name() + "_item"), yo(y.name() + "_o"),
        yt(y.name() + "_item");
    f.in(d.product)
        .compute_at(d.product, ko)
        .store_in(MemoryType::GPUShared)
        .bound_extent(x, across)
        .bound_extent(y, down);
    Func staged = f.in(d.product);
    staged.split(x, x, xi, vector)
        .split(x, x, xt, tile.itemsAcross, TailStrategy::GuardWithIf)
        .split(y, yo, yt, tile.itemsDown, TailStrategy::GuardWithIf)
        .reorder(xi, x, yo, xt, yt)
        .gpu_threads(xt, yt)
        .vectorize(xi);
  };
  Func rows = d.rows.in(d.product), panels = d.panels.in(d.product);
  rows.reorder_storage(rows.args()[1], rows.args()[0]);
  bring(d.rows, rows.args()[0], tile.steps * d.group, rows.args()[1], groupRows,
        1);
  const Var column = panels.args()[0], step = panels.args()[1];
  const int columns = tile.columns * d.accumulators * tile.itemsAcross;
  if (d.inRows)
    bring(d.panels, step, tile.steps, column, columns, 1);
  else
    bring(d.panels, column, columns, step, tile.steps, 4);
}

} // namespace

void scheduleOnDevice(DeviceMatmul nest, const DeviceTile &tile, Pipe &pipe) {
  Var nb(nest.n.name() + "_group"), nt(nest.n.name() + "_item"),
      mo(nest.m.name() + "_o");
  Var mb(nest.m.name() + "_group"), mt(nest.m.name() + "_item"),
      mi(nest.m.name() + "_i");
  auto buffer = nest.out.output_buffer();
  buffer.dim(0).set_bounds(0, nest.columns);
  buffer.dim(1).set_min(0);
  nest.out.bound(nest.n, 0, nest.columns)
      .split(nest.n, nest.no, nest.ni, tile.columns, TailStrategy::GuardWithIf)
      .split(nest.no, nb, nt, tile.itemsAcross, TailStrategy::GuardWithIf)
      .split(nest.m, mo, mi, tile.rows, TailStrategy::GuardWithIf)
      .split(mo, mb, mt, tile.itemsDown, TailStrategy::GuardWithIf)
      .reorder(nest.ni, mi, nt, mt, nb, mb)
      .gpu_blocks(nb, mb)
      .gpu_threads(nt, mt);
  // There are no stores of a part of a vector.
  if (nest.columns % tile.columns == 0)
    nest.out.vectorize(nest.ni);
  else if (!nest.park.defined())
    nest.out.unroll(nest.ni);
  if (nest.park.defined())
    nest.park.compute_at(nest.out, nt)
        .store_in(MemoryType::Stack)
        .bound_extent(nest.ni, tile.columns)
        .bound_extent(nest.a, nest.accumulators)
        .bound_extent(nest.no, 1)
        .bound_extent(nest.m, tile.rows)
        .vectorize(nest.ni)
        .unroll(nest.a)
        .unroll(nest.m);
  else
    nest.out.unroll(mi);
  if (tile.steps)
    scheduleTogether(nest, tile, nb, pipe);
  else
    scheduleAlone(nest, tile, nt);
}

// Rows are in the first dimension of work-groups: CUDA has at most 65535 of them
// in the others.
void scheduleRowGroups(DeviceRows rows, std::vector<Func> &sums) {
  Var no(rows.n.name() + "_o"), nt(rows.n.name() + "_item"),
      ni(rows.n.name() + "_in");
  rows.out.output_buffer().dim(1).set_min(0);
  rows.out.bound(rows.n, 0, rows.columns)
      .split(rows.n, rows.g, ni, rows.group)
      .split(ni, no, nt, rows.items, TailStrategy::GuardWithIf)
      .reorder(no, nt, rows.m, rows.g)
      .gpu_blocks(rows.m, rows.g)
      .gpu_threads(nt);
  for (Func &sum : sums)
    sum.compute_at(rows.out, rows.m);
}

Var scheduleElements(Func out, const Var &n, const Var &m) {
  Var nb(n.name() + "_group"), nt(n.name() + "_item");
  out.output_buffer().dim(1).set_min(0);
  out.split(n, nb, nt, 128, TailStrategy::GuardWithIf)
      .reorder(nt, m, nb)
      .gpu_blocks(m, nb)
      .gpu_threads(nt);
  return nt;
}

} // namespace mille

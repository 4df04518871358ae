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
  bring(d.panels, panels.args()[0],
        tile.columns * d.accumulators * tile.itemsAcross, panels.args()[1],
        tile.steps, 4);
}

} // namespace

void scheduleOnDevice(DeviceMatmul d, const DeviceTile &tile, Pipe &pipe) {
  Var nb(d.n.name() + "_group"), nt(d.n.name() + "_item"),
      mo(d.m.name() + "_o");
  Var mb(d.m.name() + "_group"), mt(d.m.name() + "_item"),
      mi(d.m.name() + "_i");
  auto buffer = d.out.output_buffer();
  buffer.dim(0).set_bounds(0, d.columns);
  buffer.dim(1).set_min(0);
  d.out.bound(d.n, 0, d.columns)
      .split(d.n, d.no, d.ni, tile.columns, TailStrategy::GuardWithIf)
      .split(d.no, nb, nt, tile.itemsAcross, TailStrategy::GuardWithIf)
      .split(d.m, mo, mi, tile.rows, TailStrategy::GuardWithIf)
      .split(mo, mb, mt, tile.itemsDown, TailStrategy::GuardWithIf)
      .reorder(d.ni, mi, nt, mt, nb, mb)
      .gpu_blocks(nb, mb)
      .gpu_threads(nt, mt);
  // There are no stores of a part of a vector.
  if (d.columns % tile.columns == 0)
    d.out.vectorize(d.ni);
  else if (!d.park.defined())
    d.out.unroll(d.ni);
  if (d.park.defined())
    d.park.compute_at(d.out, nt)
        .store_in(MemoryType::Stack)
        .bound_extent(d.ni, tile.columns)
        .bound_extent(d.a, d.accumulators)
        .bound_extent(d.no, 1)
        .bound_extent(d.m, tile.rows)
        .vectorize(d.ni)
        .unroll(d.a)
        .unroll(d.m);
  else
    d.out.unroll(mi);
  if (tile.steps)
    scheduleTogether(d, tile, nb, pipe);
  else
    scheduleAlone(d, tile, nt);
}

void scheduleRowGroups(DeviceRows d, std::vector<Func> &sums) {
  Var no(d.n.name() + "_o"), nt(d.n.name() + "_item"), ni(d.n.name() + "_in");
  d.out.output_buffer().dim(1).set_min(0);
  d.out.bound(d.n, 0, d.columns)
      .split(d.n, d.g, ni, d.group)
      .split(ni, no, nt, d.items, TailStrategy::GuardWithIf)
      .reorder(no, nt, d.g, d.m)
      .gpu_blocks(d.g, d.m)
      .gpu_threads(nt);
  for (Func &sum : sums)
    sum.compute_at(d.out, d.g);
}

Var scheduleElements(Func out, const Var &n, const Var &m) {
  Var nb(n.name() + "_group"), nt(n.name() + "_item");
  out.output_buffer().dim(1).set_min(0);
  out.split(n, nb, nt, 128, TailStrategy::GuardWithIf)
      .gpu_blocks(nb, m)
      .gpu_threads(nt);
  return nt;
}

} // namespace mille

// Device schedules of matmul and of what has an item for each element.
// Must not change what is computed.
#include "compiler/halide/Device.h"

using namespace Halide;

namespace mille {

// Items side by side read neighbouring columns of a panel, eight at a time; eight
// rows share each of these reads.
DeviceTile deviceTileOf(const MatmulSpec &m) {
  const int columns = 8;
  int across = int(m.panel) / m.accumulators / columns;
  return {8, columns, across, 128 / across};
}

void scheduleOnDevice(DeviceMatmul d, const DeviceTile &tile) {
  Var nb(d.n.name() + "_group"), nt(d.n.name() + "_item"), mo(d.m.name() + "_o");
  Var mb(d.m.name() + "_group"), mt(d.m.name() + "_item"), mi(d.m.name() + "_i");
  auto buffer = d.out.output_buffer();
  buffer.dim(0).set_bounds(0, d.columns);
  buffer.dim(1).set_min(0);
  d.out.bound(d.n, 0, d.columns)
      .split(d.n, d.no, d.ni, tile.columns, TailStrategy::GuardWithIf)
      .split(d.no, nb, nt, tile.itemsAcross, TailStrategy::GuardWithIf)
      .split(d.m, mo, mi, tile.rows, TailStrategy::GuardWithIf)
      .split(mo, mb, mt, tile.itemsDown, TailStrategy::GuardWithIf)
      .reorder(d.ni, mi, nt, mt, nb, mb)
      .gpu_blocks(nb, mb).gpu_threads(nt, mt);
  // There are no stores of a part of a vector.
  if (d.columns % tile.columns == 0)
    d.out.vectorize(d.ni);
  else if (!d.park.defined())
    d.out.unroll(d.ni);
  if (d.park.defined())
    d.park.compute_at(d.out, nt).store_in(MemoryType::Stack)
        .bound_extent(d.ni, tile.columns).bound_extent(d.a, d.accumulators)
        .bound_extent(d.no, 1).bound_extent(d.m, tile.rows)
        .vectorize(d.ni).unroll(d.a).unroll(d.m);
  else
    d.out.unroll(mi);
  d.product.compute_at(d.out, nt).store_in(MemoryType::Register)
      .bound_extent(d.ni, tile.columns).bound_extent(d.a, d.accumulators)
      .bound_extent(d.no, 1).bound_extent(d.m, tile.rows)
      .vectorize(d.ni).unroll(d.a).unroll(d.m);
  d.product.update().reorder(d.ni, d.a, d.m, d.no, d.k)
      .vectorize(d.ni).unroll(d.a).unroll(d.m);
  if (d.product.num_update_definitions() > 1) // what is left of K
    d.product.update(1).vectorize(d.ni).unroll(d.a).unroll(d.m);
}

void scheduleRowGroups(DeviceRows d, std::vector<Func> &sums) {
  Var no(d.n.name() + "_o"), nt(d.n.name() + "_item"), ni(d.n.name() + "_in");
  d.out.output_buffer().dim(1).set_min(0);
  d.out.bound(d.n, 0, d.columns).split(d.n, d.g, ni, d.group)
      .split(ni, no, nt, d.items, TailStrategy::GuardWithIf)
      .reorder(no, nt, d.g, d.m).gpu_blocks(d.g, d.m).gpu_threads(nt);
  for (Func &sum : sums)
    sum.compute_at(d.out, d.g);
}

Var scheduleElements(Func out, const Var &n, const Var &m) {
  Var nb(n.name() + "_group"), nt(n.name() + "_item");
  out.output_buffer().dim(1).set_min(0);
  out.split(n, nb, nt, 128, TailStrategy::GuardWithIf)
      .gpu_blocks(nb, m).gpu_threads(nt);
  return nt;
}

} // namespace mille

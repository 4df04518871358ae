// The model of devices. Must depend on sizes and on the description alone.
#include "compiler/halide/device/DeviceTiles.h"

#include <algorithm>
#include <sstream>
#include <tuple>

namespace mille {

// The least that GPUs with OpenCL 1.2 have, NVIDIA's since Maxwell and AMD's
// since GCN: work-groups of 256 items, and 32 KB of local memory for one; with
// 128 registers an item, a unit holds four groups of 128 items.
DeviceDescription gpuDescription() {
  return {"GPUs", 256, 32, 128, 32 << 10, 128, 32, 32, 30};
}

// Half of the 512 f32 that AVX-512's registers hold; with AVX2 the rest stays
// in L1. A copy into local memory is a copy from memory to memory.
DeviceDescription coreDescription() {
  return {"CPU devices, and few rows", 256, 1, 256, 0, 16, 16, 32, 0};
}

namespace {

int stepGroup(const MatmulSpec &m) { return int(m.group()); }
int groupRows(const DeviceTile &t) { return t.rows * t.itemsDown; }

// Registers: sums, the operands of a step, and a few for addresses.
int registersOf(const MatmulSpec &m, const DeviceTile &t) {
  const int across = t.columns * m.accumulators;
  return t.rows * across + t.rows + across;
}

// Bytes of local memory: rows are widened to a word for each value, the panel
// keeps its own words.
int64_t localBytesOf(const MatmulSpec &m, const DeviceTile &t) {
  return 4 * int64_t(t.steps) * (groupRows(t) * stepGroup(m) + m.panel);
}

// Half of the local memory, so that one group multiplies while another one
// copies.
bool fits(const MatmulSpec &m, const DeviceDescription &d,
          const DeviceTile &t) {
  const int items = t.itemsAcross * t.itemsDown;
  return registersOf(m, t) + 16 <= d.registers && items <= d.groupItems &&
         items >= 2 * d.itemsTogether && items % d.itemsTogether == 0 &&
         localBytesOf(m, t) <= d.localBytes / 2;
}

// The order of tiles: fewest cycles for a product, then fewest words of local
// memory, then fewest rows of a group, because the last group wastes least of
// them.
bool isBetter(const MatmulSpec &m, const DeviceDescription &d,
              const DeviceTile &tile, const DeviceTile &than) {
  auto merits = [&](const DeviceTile &t) {
    const GroupCost cost = costOf(m, d, t);
    const double products = groupRows(t) * double(m.panel);
    return std::tuple(cost.cycles() / products, cost.local / products,
                      groupRows(t));
  };
  return !than.rows || merits(tile) < merits(than);
}

} // namespace

double GroupCost::cycles() const {
  return std::max({multiplies, local, global}) + barriers;
}

GroupCost costOf(const MatmulSpec &m, const DeviceDescription &d,
                 const DeviceTile &t) {
  const int items = t.itemsAcross * t.itemsDown, group = stepGroup(m);
  const double reads = t.rows * group + t.columns * m.accumulators;
  const double brought =
      bytesOf(m.input.element) * group * groupRows(t) + 4 * m.panel;
  return {groupRows(t) * double(m.panel) * group / d.multiplies,
          items * reads / d.localWords, brought / d.globalBytes,
          t.steps ? 3 * d.barrier / t.steps : 0};
}

DeviceTile deviceTileOf(const MatmulSpec &m, const DeviceDescription &d) {
  const int width = int(m.panel) / m.accumulators;
  if (!d.localBytes) {
    // Sixteen columns are one or two vectors of a CPU, and rows share what is
    // read of a panel. Where a row ends within a vector its columns are stored
    // one by one, so the tile has fewer.
    const int columns = m.columns % 16 ? 8 : 16, across = width / columns;
    return {columns == 8 ? 8 : 8 / m.accumulators, columns, across,
            128 / across, 0};
  }
  DeviceTile best{};
  for (int columns : {4, 8})
    for (int rows : {2, 4, 8, 16})
      for (int down : {4, 8, 16, 32})
        for (int steps : {32, 16, 8, 4}) {
          DeviceTile tile{rows, columns, width / columns, down, steps};
          if (fits(m, d, tile) && isBetter(m, d, tile, best))
            best = tile;
        }
  return best;
}

std::string explainTile(const MatmulSpec &m, const DeviceDescription &d) {
  const DeviceTile t = deviceTileOf(m, d);
  const GroupCost cost = costOf(m, d, t);
  std::ostringstream text;
  text << "tile for " << d.name << ": an item has " << t.rows << " rows x "
       << t.columns << " columns";
  if (m.accumulators > 1)
    text << " x " << m.accumulators << " sums";
  text << ", " << registersOf(m, t) << " of " << d.registers
       << " registers; a group has " << t.itemsAcross << " x " << t.itemsDown
       << " items";
  if (!t.steps) {
    text << " and reads from memory, as its local memory is no faster";
    return text.str();
  }
  text << " and " << t.steps << " steps of K in " << localBytesOf(m, t)
       << " of " << d.localBytes << " bytes of local memory; a step takes "
       << cost.multiplies << " cycles of multiply-adds, " << cost.local
       << " of local memory, " << cost.global << " of memory, " << cost.barriers
       << " of waiting";
  return text.str();
}

} // namespace mille

// Panels go round: load, the group's work, store. Must not compute.
#include "compiler/nvvm/Carrier.h"

namespace mille::nvvm {

Regs Carrier::begin() {
  Regs state;
  append(state, ring.producer());
  state.insert(state.end(), 3, b.constant(0)); // no tile yet, row, column
  return state;
}

// Where a panel of 64 rows lies, in the order of the group's work.
Regs Carrier::boxOf(unsigned panel, Reg row, Reg column) {
  return {column + panel / layout.blocks * layout.panelColumns,
          row + panel % layout.blocks * 64};
}

// When the group has written it.
void Carrier::store(const RingState &at, unsigned panel, Reg row, Reg column) {
  b.waitBarrier(ring.empty(at.stage), at.parity);
  b.storeBox(outMap, ring.address(at.stage), boxOf(panel, row, column));
  b.commitStores();
}

Regs Carrier::carry(const Regs &state, Reg row, Reg column) {
  RingState at{state[0], state[1]};
  const unsigned slots = layout.slots, count = layout.groupPanels();
  for (unsigned panel = 0; panel < count; ++panel) {
    if (panel < slots)
      b.ifThen(ne(state[2], 0),
               [&] { store(at, count - slots + panel, state[3], state[4]); });
    else
      store(at, panel - slots, row, column);
    b.waitStores(0); // the slot is free
    if (layout.ringExtra >= 0) {
      b.arriveExpecting(ring.full(at.stage), ring.stageBytes());
      b.loadBox(ring.address(at.stage), extraMap, ring.full(at.stage),
                boxOf(panel, row, column));
    } else {
      b.arrive(ring.full(at.stage));
    }
    at = ring.next(at);
  }
  return {at.stage, at.parity, b.constant(1), row, column};
}

void Carrier::end(const Regs &state) {
  b.ifThen(ne(state[2], 0), [&] {
    RingState at{state[0], state[1]};
    const unsigned count = layout.groupPanels();
    for (unsigned panel = count - layout.slots; panel < count; ++panel) {
      store(at, panel, state[3], state[4]);
      at = ring.next(at);
    }
    b.waitStores(0, /*read=*/false);
  });
}

} // namespace mille::nvvm

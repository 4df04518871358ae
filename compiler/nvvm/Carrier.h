// The thread that serves a group's panels in shared memory: it brings the
// extra's, and takes away the out's, which stand in their place.
// Must not compute.
#pragma once
#include "compiler/nvvm/Matmul.h"
#include "compiler/nvvm/Ring.h"

namespace mille::nvvm {

// A stage of the ring is `full` when the extra has arrived in it, or, where
// there is none, when it may be written; it is `empty` when the group has
// written the out.
class Carrier {
public:
  // Maps: of the extra, if there is one, and of the out.
  Carrier(Builder &builder, const MatmulLayout &layout, const Ring &ring,
          Reg extraMap, Reg outMap)
      : b(builder), layout(layout), ring(ring), extraMap(extraMap),
        outMap(outMap) {}

  // The state that goes from tile to tile: the place in the ring, and the tile
  // whose last panels are still to be taken away, if there was one.
  Regs begin();
  // The panels of a tile that begins there.
  Regs carry(const Regs &state, Reg row, Reg column);
  void end(const Regs &state);

private:
  Regs boxOf(unsigned panel, Reg row, Reg column);
  void store(const RingState &at, unsigned panel, Reg row, Reg column);

  Builder &b;
  const MatmulLayout &layout;
  Ring ring;
  Reg extraMap, outMap;
};

} // namespace mille::nvvm

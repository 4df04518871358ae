// Where an attention kernel keeps what: shared memory, barriers, arguments.
// Must not build code.
#pragma once
#include "compiler/nvvm/Attention.h"
#include "compiler/nvvm/Fragments.h"
#include "compiler/nvvm/Parts.h"

#include <optional>

namespace mille::nvvm {

constexpr unsigned groupQueries = 64; // of a warp group
// Warps 1 ... 3 of the producer's group prepare what has arrived.
constexpr unsigned preparingThreads = 96;

struct AttentionPlan {
  AttentionPlan(const KernelSpec &spec, const AttentionTile &tile);

  const AttentionSpec &s;
  AttentionTile tile;
  unsigned queries;                 // of a tile
  unsigned headPanels, valuePanels; // of 64 columns
  // Bytes of a panel of queries and of a block's keys or values, and of all
  // panels.
  unsigned queryPanel, keyPanel, queryBytes, keyBytes, valueBytes;
  // Offsets in shared memory. Where tiles follow each other the out has memory
  // of its own, so that the next queries arrive while it leaves.
  unsigned keysAt, valuesAt, outAt, barriersAt, sharedBytes;

  // Whether operands are f32, which are multiplied by parts (PartsAttention.h).
  bool byParts() const { return s.query.element == Element::f32; }
  bool rotates() const { return s.has(AttentionOperand::rotation); }
  // A hidden key's value counts nothing, even if it is not a number: 0 times
  // that would be NaN.
  bool cleans() const { return s.has(AttentionOperand::keyMask); }
  bool prepares() const { return rotates() || cleans(); }
  unsigned groupsInTurns() const { return tile.inTurns ? tile.groups : 1; }
  // Groups with the same queries, and those with queries of their own.
  unsigned sharers() const { return tile.sharesQueries ? tile.groups : 1; }
  unsigned queryGroups() const { return tile.groups / sharers(); }
  // Whether scores are more than products times a constant.
  bool changesScores() const;
  unsigned threads() const { return groupThreads * (tile.groups + 1); }
  // Registers of a thread: threads times registers is at most 65536. With one
  // group alone all threads have 255, and none gives any back.
  bool movesRegisters() const { return tile.groups > 1; }
  unsigned producerRegisters() const;
  unsigned consumerRegisters() const;
  unsigned maskWords() const { return (tile.keys + 31) / 32; }

  // By parts: stages of a panel as it arrives, up to 64 rows of 64 columns.
  static constexpr unsigned rawBytes = 2 * groupQueries * lineBytes;
  unsigned rawStages = 0, rawAt = 0;
  unsigned rawRingAt() const { return valueReadyAt() + 8 * tile.stages; }
  void placeParts();

  // Barriers: of queries, then of the rings.
  enum Barrier { queryFull, queryEmpty, queryReady, ringBarriers };
  unsigned barrierAt(unsigned number) const { return barriersAt + 8 * number; }
  unsigned keyRingAt() const { return barrierAt(ringBarriers); }
  unsigned valueRingAt() const { return keyRingAt() + 16 * tile.stages; }
  unsigned keyReadyAt() const { return valueRingAt() + 16 * tile.stages; }
  unsigned valueReadyAt() const { return keyReadyAt() + 8 * tile.stages; }
};

// The numbers of the launch's arguments.
struct AttentionArguments {
  unsigned query, key, value, out;
  unsigned queries, keys, first;   // scalars of the kernel
  unsigned queryBlocks, sequences; // amounts
  std::optional<unsigned> optional[attentionOperands];

  std::optional<unsigned> operator[](AttentionOperand operand) const {
    return optional[int(operand)];
  }
};

// Fills the launch.
AttentionArguments describeLaunch(const KernelSpec &spec,
                                  const AttentionPlan &plan, Launch &launch);

} // namespace mille::nvvm

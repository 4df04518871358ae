// What the roles of an attention kernel share while it is built: values that
// all threads have, a tile and the keys that it sees.
#pragma once
#include "compiler/nvvm/AttentionPlan.h"
#include "compiler/nvvm/AttentionSight.h"
#include "compiler/nvvm/Fragments.h"
#include "compiler/nvvm/Ring.h"

namespace mille::nvvm {

// A tile: 64 queries a group, of one head of one sequence.
struct QueryTile {
  Reg head, sequence; // counted in a sequence; of the launch
  Reg query;          // its first
  Reg firstKey;       // row of the sequence's key 0 among all keys
  Reg prefix;         // keys that every query sees, or absent
  Reg low, high;      // the blocks of keys: high - 1, ..., low
};

class AttentionKernel {
public:
  AttentionKernel(mlir::MLIRContext &context, const AttentionPlan &plan,
                  const AttentionArguments &numbers, const Launch &launch);

  Reg argument(AttentionOperand operand) {
    return b.argument(*numbers[operand]);
  }
  bool has(AttentionOperand operand) const { return s.has(operand); }

  // Calls `body` for each tile of this block of threads. It takes and gives
  // the state that goes from tile to tile.
  void eachTile(const Regs &state,
                llvm::function_ref<Regs(const QueryTile &, const Regs &)> body);

  //===-- Who sees whom (AttentionSight.cpp) ------------------------------===//

  // The first key that a query at a position sees, and the end of its keys;
  // absent where all keys are seen. Both grow with the position.
  Reg begin(Reg position) { return firstSeen(s, position); }
  Reg end(const QueryTile &tile, Reg position) {
    return endSeen(s, position, keys, tile.prefix);
  }
  // The mask's numbers of a block, a word of lanes each; with `hidden` they
  // become bits of the keys that are seen. Read early: memory is far.
  Regs readMask(const QueryTile &tile, Reg block);
  Regs seenBits(const Regs &mask, Reg block);
  // Scores of a group, -inf where a query does not see the key.
  Regs masked(const QueryTile &tile, const Fragments &fragments, Reg query,
              Reg block, const Regs &seen, const Regs &scores);

  //===-- Scores (AttentionScores.cpp) ------------------------------------===//

  // Scores in powers of two: scale, cap and biases. Called where
  // plan.changesScores().
  Regs changed(const QueryTile &tile, const Fragments &fragments, Reg query,
               Reg block, const Regs &products);
  Reg sinkOf(const QueryTile &tile); // in powers of two

  //===-- Roles (AttentionLoads.cpp, AttentionProducts.cpp) ---------------===//

  void produce(); // by one thread
  void prepare(); // by warps 1 ... 3 of the producer's group
  void consume(); // by the other groups
  // The same by parts (PartsAttention.cpp).
  void produceParts(), prepareParts(), consumeParts();

  Builder b;
  const AttentionPlan &plan;
  const AttentionSpec &s;
  const AttentionArguments &numbers;
  Reg shared, thread, group; // the number of its warp group
  Reg queries, keys, first;
  Ring keyRing, valueRing;

  Ring rawRing(); // by parts: what arrives
  Reg barrier(unsigned number) { return b.at(shared, plan.barrierAt(number)); }
  Reg keyReady(Reg stage) {
    return b.at(shared, stage * 8 + plan.keyReadyAt());
  }
  Reg valueReady(Reg stage) {
    return b.at(shared, stage * 8 + plan.valueReadyAt());
  }
  Reg positionOf(Reg query) { return query + first; }

private:
  QueryTile tileAt(Reg number);
  QueryTile tileOf(Reg head, Reg block);
  Regs
  eachInPairs(const Regs &state,
              llvm::function_ref<Regs(const QueryTile &, const Regs &)> body);
  Regs maskedRows(const QueryTile &tile, const Fragments &fragments, Reg query,
                  Reg block, const Regs &seen, const Regs &scores);
};

// What a tile's loads are, in the order in which they are made and used: the
// last block's keys, the queries, then keys of a block and values of the block
// before it.
struct LoadOrder {
  llvm::function_ref<RingState(Reg block, RingState)> keys, values;
  llvm::function_ref<void()> queries;
};
// Gives the states of both rings after the tile.
std::pair<RingState, RingState> inOrder(AttentionKernel &kernel,
                                        const QueryTile &tile, RingState keys,
                                        RingState values,
                                        const LoadOrder &order);

} // namespace mille::nvvm

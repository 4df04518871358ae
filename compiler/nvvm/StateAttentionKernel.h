// What the roles of an attention to states share while it is built: sizes,
// shared memory, arguments, a tile.
#pragma once
#include "compiler/nvvm/AttentionSight.h"
#include "compiler/nvvm/Fragments.h"
#include "compiler/nvvm/Ring.h"
#include "compiler/nvvm/StateAttention.h"

#include <optional>

namespace mille::nvvm {

// Keys of a block, which are multiplied together, and blocks of a stretch.
constexpr unsigned stateKeys = 64, stretchBlocks = 4;

struct StatePlan {
  StatePlan(const KernelSpec &spec, bool few);

  const AttentionSpec &s;
  const KernelSpec &spec;
  const bool few; // stretches of a tile have blocks of threads of their own
  unsigned heads, headTiles;        // of a tile; tiles of a key head's heads
  unsigned queries;                 // of a tile
  unsigned boxQueries;              // that are copied: they fill 64 rows
  unsigned headPanels, valuePanels; // of 64 columns
  unsigned queryPanel, keyPanel;    // bytes
  unsigned queryBytes, keyBytes, valueBytes; // that are copied
  unsigned stages;
  // Offsets in shared memory.
  unsigned keysAt, valuesAt, queryFullAt, keyRingAt, valueRingAt, lastAt;
  unsigned sharedBytes;

  static constexpr unsigned rows = 64, consumers = 128, threads = 160;
  bool changesScores() const; // more than products times a constant
  // Floats of a stretch's sums of a row: the largest score, the sum of weights,
  // the weighted values.
  int64_t partFloats() const { return s.valueDim + 2; }
};

struct StateArguments {
  unsigned query, key, value, out, queries, rows, past, queryTiles;
  unsigned splits = 0, parts = 0, counters = 0; // of few rows
  std::optional<unsigned> optional[attentionOperands];
};
StateArguments describeStateLaunch(const StatePlan &plan, Launch &launch);

// A tile, and the keys that its rows see.
struct StateTile {
  Reg number, split; // split: its block's stretch, counted from `low`
  Reg sequence, keyHead;
  Reg head, headEnd;       // the tile's heads
  Reg query;               // its first
  Reg first;               // the position of query 0
  Reg keys;                // of the sequence
  Reg lowBlock, highBlock; // of keys
  Reg low, count;          // stretches
};

class StateAttention {
public:
  StateAttention(mlir::MLIRContext &context, const StatePlan &plan,
                 const StateArguments &numbers, const Launch &launch);
  void write();

  StateTile tile();
  // Calls `body` for each stretch of this block of threads.
  Regs eachStretch(const StateTile &tile, const Regs &state,
                   llvm::function_ref<Regs(Reg stretch, const Regs &)> body);
  // Calls `body` for each block of a stretch, the last one first.
  Regs eachBlock(const StateTile &tile, Reg stretch, const Regs &state,
                 llvm::function_ref<Regs(Reg block, const Regs &)> body);

  Reg argument(AttentionOperand operand) {
    return b.argument(*numbers.optional[int(operand)]);
  }
  bool has(AttentionOperand operand) const { return s.has(operand); }

  void produce(const StateTile &tile); // by one thread
  void consume(const StateTile &tile); // by 128

  Builder b;
  const StatePlan &plan;
  const AttentionSpec &s;
  const StateArguments &numbers;
  Reg shared, thread, queries, rows; // rows: of a sequence's state
  Ring keyRing, valueRing;

  Reg queryFull() { return b.at(shared, plan.queryFullAt); }
};

// Of a row: the largest score and the sum of weights. Of the fragments of a
// thread two, 8 rows apart.
struct RowSums {
  Reg top, sum;
};
// A thread's row of a tile, as fragments or the last block of threads count
// them.
struct StateRow {
  Reg head, query; // of the sequence
  Reg isReal;      // not past the queries, nor past the key head's heads
};
StateRow stateRow(StateAttention &k, const StateTile &tile, Reg row);

// The scores of a block's products in powers of two, where these change.
Regs changedScores(StateAttention &k, const StateTile &tile,
                   const Fragments &fragments, Reg block, const Regs &products);

// Adds a stretch's sums behind those before it. `values` are weighted values.
void addStretch(Builder &b, double factor, RowSums &all, Regs &values,
                const RowSums &more, const Regs &moreValues);
// What weighted values are multiplied by at the end.
Reg endFactor(StateAttention &k, double factor, const RowSums &sums, Reg head);
// Writes two columns of the out.
void storeOut(StateAttention &k, const StateTile &tile, const StateRow &row,
              Reg column, Reg low, Reg high);

// By 128 threads, of fragments: the sums of the block's stretch. Who comes last
// of the tile's blocks adds all of them and writes the out.
void giveStretch(StateAttention &k, const StateTile &tile, double factor,
                 const Fragments &fragments, Reg thread, const RowSums sums[2],
                 const Regs &values);

} // namespace mille::nvvm

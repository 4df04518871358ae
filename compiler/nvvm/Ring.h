// A ring of stages in shared memory between copies and products: who waits for
// which barrier, with which parity. Must not know what lies in a stage.
#pragma once
#include "compiler/nvvm/Builder.h"

namespace mille::nvvm {

// A place in a ring: the stage, and the parity to wait for. A consumer starts
// with parity 0 (of `full`), a producer with 1 (of `empty`, which passes at
// once); each wrap flips it.
struct RingState {
  Reg stage, parity;
};
void append(Regs &values, const RingState &state);

// `full` completes when the bytes of a stage have arrived. `empty` completes
// when `consumers` groups of each block of the cluster have released it.
//
// A parity tells a phase from the one before only: no waiter may be two phases
// away from its barrier.
class Ring {
public:
  // Barriers take barrierBytes(stages) of shared memory at `barriers`.
  Ring(Builder &builder, Reg shared, unsigned stages, unsigned stageBytes,
       unsigned offset, unsigned barriers, unsigned consumers,
       unsigned cluster = 1);
  static unsigned barrierBytes(unsigned stages) { return 16 * stages; }

  void init(); // by one thread
  // For two producers and one consumer, a barrier by each thread.
  void initForTwo(Reg thread);
  RingState producer();
  RingState consumer();
  RingState next(const RingState &state);
  RingState skip(const RingState &state, Reg count); // `count` stages on
  Reg before(Reg stage);

  Reg address(Reg stage, unsigned bytes = 0); // in the stage
  Reg full(Reg stage), empty(Reg stage);
  // The producer's: waits until the stage is free, and expects bytes.
  Reg acquire(const RingState &state, Operand bytes);
  // The producer's whole work for steps from ... to - 1, each of which fills a
  // stage with an input and a weight, so many bytes together: weights of the
  // first stages come while earlier kernels still run. Gives the place after
  // the last.
  using Load = llvm::function_ref<void(Reg step, Reg stage, RingState at)>;
  RingState fill(Reg from, Reg to, Operand expected, Load weight, Load input);
  // The work of one of two producers, which fills its part of each stage.
  void
  fillPart(Reg to, Operand expected,
           llvm::function_ref<void(Reg step, Reg stage, RingState at)> load);
  // The consumers': waits for the bytes.
  void wait(const RingState &state);
  // By all threads of a group; `thread` is the number within it.
  void release(Reg stage, Reg thread);

  unsigned stages() const { return count; }
  unsigned stageBytes() const { return bytes; }

private:
  RingState eachStep(RingState start, Reg from, Reg to,
                     llvm::function_ref<void(Reg step, RingState at)> body);

  Builder &b;
  Reg shared;
  unsigned count, bytes, offset, barriers, consumers, cluster;
};

// Turns of two or three groups at the tensor cores, by named barriers 4, 5, ...
// Group 0 goes first. A group alone does not wait.
class Turns {
public:
  Turns(Builder &builder, unsigned groups, Reg group)
      : b(builder), groups(groups), group(group) {}
  void begin(); // before the first turn: the last group gives it to group 0
  void take();
  void pass();
  void end(); // after the last turn: no arrival is left over

private:
  Builder &b;
  unsigned groups;
  Reg group;
};

} // namespace mille::nvvm

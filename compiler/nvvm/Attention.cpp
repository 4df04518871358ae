// An attention kernel's frame: barriers, and which threads have which role.
// Must not say what a role does.
#include "compiler/nvvm/AttentionKernel.h"

namespace mille::nvvm {

AttentionKernel::AttentionKernel(mlir::MLIRContext &context,
                                 const AttentionPlan &plan,
                                 const AttentionArguments &numbers,
                                 const Launch &launch)
    : b(context, launch), plan(plan), s(plan.s), numbers(numbers),
      shared(b.sharedMemory()), thread(b.threadIndex()),
      group(b.uniform(thread / groupThreads)),
      queries(b.argument(numbers.queries)), keys(b.argument(numbers.keys)),
      first(b.argument(numbers.first)),
      keyRing(b, shared, plan.tile.stages, plan.keyBytes, plan.keysAt,
              plan.keyRingAt(), plan.tile.groups),
      valueRing(b, shared, plan.tile.stages, plan.valueBytes, plan.valuesAt,
                plan.valueRingAt(), plan.tile.groups) {}

static void initBarriers(AttentionKernel &k) {
  Builder &b = k.b;
  b.initBarrier(k.barrier(AttentionPlan::queryFull), 1);
  b.initBarrier(k.barrier(AttentionPlan::queryEmpty), k.plan.tile.groups);
  b.initBarrier(k.barrier(AttentionPlan::queryReady), preparingThreads);
  k.keyRing.init();
  k.valueRing.init();
  if (k.plan.byParts())
    k.rawRing().init();
  for (unsigned stage = 0; stage < k.plan.tile.stages; ++stage)
    for (Reg ready :
         {k.keyReady(b.constant(stage)), k.valueReady(b.constant(stage))})
      b.initBarrier(ready, preparingThreads);
  b.fenceBarrierInit();
  for (unsigned map :
       {k.numbers.query, k.numbers.key, k.numbers.value, k.numbers.out})
    b.prefetchMap(b.argument(map));
}

Kernel writeAttention(mlir::MLIRContext &context, const KernelSpec &spec,
                      const AttentionTile &tile, const std::string &entry) {
  Launch launch;
  launch.entry = entry;
  launch.half = halfOf(spec);
  const AttentionPlan plan(spec, tile);
  const AttentionArguments numbers = describeLaunch(spec, plan, launch);
  AttentionKernel k(context, plan, numbers, launch);
  Builder &b = k.b;
  b.admitNextKernel();
  b.ifThen(eq(k.thread, 0), [&] { initBarriers(k); });
  b.syncBlock();
  b.waitForEarlierKernels();
  auto producers = [&] {
    if (plan.movesRegisters())
      b.setRegisters(Builder::Registers::decrease, plan.producerRegisters());
    auto produce = [&] {
      b.ifThen(b.elect(),
               [&] { plan.byParts() ? k.produceParts() : k.produce(); });
    };
    if (plan.byParts())
      b.ifElse(lt(k.thread, 32), produce, [&] { k.prepareParts(); });
    else if (plan.prepares())
      b.ifElse(lt(k.thread, 32), produce, [&] { k.prepare(); });
    else
      b.ifThen(lt(k.thread, 32), produce);
  };
  auto consumers = [&] {
    if (plan.movesRegisters())
      b.setRegisters(Builder::Registers::increase, plan.consumerRegisters());
    plan.byParts() ? k.consumeParts() : k.consume();
  };
  b.ifElse(eq(k.group, 0), producers, consumers);
  return {b.finish(), launch};
}

} // namespace mille::nvvm

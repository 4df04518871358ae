// Prefetches into L1 or L2. Halide knows one prefetch only, which bypasses the
// caches. Must not be included outside of compiler/halide.
#pragma once

namespace llvm {
class IRBuilderBase;
class Module;
class Value;
} // namespace llvm

namespace mille {

// Emits the instruction that prefetches the line of an address into L2 only,
// for reading.
void emitPrefetchIntoL2(llvm::IRBuilderBase &builder, llvm::Value *address);

// The placeholder call of a lowered program that prefetches a line into L2: i32
// of a buffer and a byte of it.
constexpr const char *prefetchIntoL2Name = "mille_prefetch_into_l2";

// Replaces each such call by the instruction, and each of Halide's prefetches
// by a prefetch into L1.
void prefetchIntoCaches(llvm::Module &module);

} // namespace mille

// Prefetches into L1 or L2. Halide knows one prefetch only, which bypasses the
// caches.
#pragma once

namespace llvm {
class IRBuilderBase;
class Module;
class Value;
} // namespace llvm

namespace mille {

// The instruction that asks for the line of an address, to read it, in L2
// alone.
void emitPrefetchIntoL2(llvm::IRBuilderBase &builder, llvm::Value *address);

// What a lowered program calls to ask for a line in L2: i32 of a buffer and a
// byte of it.
constexpr const char *prefetchIntoL2Name = "mille_prefetch_into_l2";

// Makes each such call the instruction, and each of Halide's prefetches one
// into L1.
void prefetchIntoCaches(llvm::Module &module);

} // namespace mille

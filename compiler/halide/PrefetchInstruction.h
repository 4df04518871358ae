// Prefetches into L1 or L2. Halide knows one prefetch only, which bypasses the caches.
#pragma once
#include <string>

namespace llvm {
class IRBuilderBase;
class Module;
class Value;
} // namespace llvm

namespace mille {

// Makes each `prefetchnta` of an x86-64 object a `prefetcht0`, in place. False where the
// object or its code cannot be read.
bool prefetchIntoL1(std::string &object);

// The instruction that asks for the line of an address, to read it, in L2 alone.
void emitPrefetchIntoL2(llvm::IRBuilderBase &builder, llvm::Value *address);

// What a lowered program calls to ask for a line in L2: i32 of a buffer and a byte of it.
constexpr const char *prefetchIntoL2Name = "mille_prefetch_into_l2";

// Makes each such call the instruction.
void prefetchIntoL2(llvm::Module &module);

} // namespace mille

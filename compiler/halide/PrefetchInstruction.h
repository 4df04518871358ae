// Prefetches into L1. Halide knows one prefetch only, which bypasses the caches.
#pragma once
#include <string>

namespace mille {

// Makes each `prefetchnta` of an x86-64 object a `prefetcht0`, in place. False where the
// object or its code cannot be read.
bool prefetchIntoL1(std::string &object);

} // namespace mille

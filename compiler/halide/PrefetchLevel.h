// Prefetches into L2. Halide knows one prefetch only, which bypasses it.
#pragma once
#include <string>

namespace mille {

// Makes each `prefetchnta` of an x86-64 object a `prefetcht1`, in place. False
// where the object or its code cannot be read.
bool prefetchIntoL2(std::string &object);

} // namespace mille

// Prefetches into a cache. Halide knows one prefetch only, which bypasses them.
#pragma once
#include <string>

namespace mille {

enum class CacheLevel { L1 = 1, L2 = 2 };

// Makes each `prefetchnta` of an x86-64 object a `prefetcht0` or a `prefetcht1`, in
// place. False where the object or its code cannot be read.
bool prefetchInto(CacheLevel level, std::string &object);

} // namespace mille

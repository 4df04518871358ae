// Kernel objects on disk, by content. Must never fail a compile: a cache that
// cannot be read or written counts as empty.
#pragma once
#include <string>

namespace mille {

// $XDG_CACHE_HOME/mille or ~/.cache/mille; empty where neither is known.
std::string kernelCacheFolder();

// The key of what a text says whole: hexadecimal digits.
std::string kernelCacheKey(const std::string &text);

// The bytes under `key`; false where there are none, or
// where they are damaged.
bool readKernelCache(const std::string &key, std::string &bytes);

// Stores the bytes; removes the oldest entries beyond 512 MB.
void writeKernelCache(const std::string &key, const std::string &bytes);

} // namespace mille

// The text of a device's kernels, as the runtime wants it.
// Must not know what the kernels compute.
#pragma once
#include <string>

namespace mille {

// Every buffer of a kernel becomes a memory object and the number of its first
// element there: kernels share a few large objects. Empty where the text is not
// what this version of Halide writes.
std::string withOffsets(const std::string &source);

} // namespace mille

// The text of a device's kernels, as the runtime wants it.
// Must not know what the kernels compute.
#pragma once
#include "compiler/halide/Build.h"

namespace mille {

// What begins the name of the buffer with one number: the rows of a group's
// expert.
constexpr char expertRowsName[] = "expert_rows";

// Every buffer of a kernel becomes a memory object and the number of its first
// byte there: kernels share a few large objects. By experts, two numbers more
// say how many bytes further the next row, and the next expert's entry, begins;
// and each group finds its expert, by where the rows of each start, in place of
// the buffer with its number of rows. Empty where the text is not what this
// version of Halide writes.
std::string withOffsets(const std::string &source, const ExpertGroups &experts);

} // namespace mille

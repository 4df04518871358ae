// The text of a device's kernels, in the form that the runtime expects.
// Must not know what the kernels compute.
#pragma once
#include "compiler/halide/Build.h"

namespace mille {

// The beginning of the name of the buffer that holds one number, the rows of a
// group's expert.
constexpr char expertRowsName[] = "expert_rows";

// Replaces each buffer of a kernel by a memory object and the number of the
// buffer's first byte there, because kernels share a few large memory objects.
// With experts two more numbers say the bytes from a row and from an expert's
// entry to the next, and each work-group finds its expert by `starts`, instead
// of reading its number of rows from a buffer. Empty where the text is not in
// the form that this version of Halide writes.
std::string withOffsets(const std::string &source, const ExpertGroups &experts);

} // namespace mille

// The text of a device's kernels, as the runtime wants it.
// Must not know what the kernels compute.
#pragma once
#include <cstdint>
#include <string>

namespace mille {

// A kernel that a launch runs over the rows of all experts.
struct ExpertGroups {
  int64_t experts = 0; // 0: it is none
  int rows = 0;        // of a work-group
  int itemRows = 0;    // of an item that works without the others; 0: with them
};

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

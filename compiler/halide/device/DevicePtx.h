// The PTX of a device's kernels, in the form that the runtime expects.
// Must not know what the kernels compute.
#pragma once
#include "compiler/halide/Build.h"

#include <map>

namespace mille {

// The names of the arguments of each entry, in order, as the host's code hands
// them over. A scalar has an empty name.
using EntryArguments = std::map<std::string, std::vector<std::string>>;
EntryArguments argumentsOf(const Halide::Module &module);

// Makes addresses of shared memory relative to a declared array: Halide takes
// address 0, where Hopper's system keeps data of its own. With experts each
// buffer but the first of the names with `expertRowsName` gets two more
// parameters after all others, the bytes from a row and from an expert's entry
// to the next; a block finds its expert by `starts`, which stands in that
// buffer's place, instead of reading its number of rows. Comments are dropped.
// Throws Halide's CompileError with the line that is not in the form that this
// version of Halide writes.
std::string placedPtx(const std::string &source, const EntryArguments &entries,
                      const ExpertGroups &experts);

} // namespace mille

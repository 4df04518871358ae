// Random inputs of a package's entry, and the sizes of a run.
// Must not run anything.
#pragma once
#include "compiler/driver/package/Package.h"
#include "compiler/interpret/Interpret.h"

namespace mille {

// Random inputs of an entry from a fixed seed, with ids within bounds. Optional
// inputs are left out. With `withMask` there is a mask, and the last of several
// sequences is shorter.
Values seededInputs(const Package::Entry &entry,
                    const llvm::StringMap<int64_t> &sizes, bool withMask);

// The sizes of a run of the package: `batch`, `tokens`, the model's own image,
// and `others` for every other size.
llvm::StringMap<int64_t> sizesOfRun(const Package &package, int64_t batch,
                                    int64_t tokens, int64_t others);
// The same, limited to the model's maxima.
llvm::StringMap<int64_t> sizesWithin(const Package &package, int64_t batch,
                                     int64_t tokens, int64_t others);

} // namespace mille

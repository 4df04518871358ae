// In what types the numbers of a weight are stored, and are to be read.
// Must not choose a type: the plan does.
#pragma once
#include "dialects/kernel/Kernel.h"

#include <set>
#include <string>

namespace mille {

// Encodings of stored tensors, and types that parameters name, of all layers.
std::set<std::string> storageOf(kernel::WeightOp weight);

} // namespace mille

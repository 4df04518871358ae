// Finds the kinds of units that a model has. Must not describe them.
#pragma once
#include "compiler/driver/commands/UnitFacts.h"

namespace mille {

// Units with the same facts, and the layers that they are in.
struct UnitKind {
  UnitSlots slots;
  Facts facts;
  std::vector<int64_t> layers;
};

// [stack][number of the unit in its layer][kind], the most frequent kind first.
using UnitKinds = std::vector<std::vector<std::vector<UnitKind>>>;

// The kinds of the first entry; other entries have the same units.
UnitKinds unitKindsOf(mlir::Operation *model);

} // namespace mille

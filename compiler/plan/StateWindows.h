// Which entries of states only queries with a window read, so that a session
// may drop their first rows. Must not change how states lie in memory.
#pragma once
#include "compiler/plan/AttendedStates.h"

namespace mille::plan {

// Says it in the attributes of dialects/kernel/HeldPanels.h. No state has
// windows where entries of the model, or keys and values, disagree.
void setWindows(llvm::ArrayRef<AttendedState> states);

} // namespace mille::plan

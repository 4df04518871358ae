// What a run of a planned program launches and moves, and the same of the model
// without its scales. Must not measure time.
#pragma once
#include "compiler/plan/Passes.h"
#include "compiler/rewrite/Passes.h"

namespace mille {

struct Traffic {
  int64_t kernels = 0;     // different ones
  int64_t launches = 0;    // of a run
  int64_t bytesPerRow = 0; // read and written by them, for each row of a run
  int64_t weightBytes = 0; // read by them whatever the rows
  bool operator==(const Traffic &other) const;
};

// Of a planned model.
Traffic trafficOf(mlir::Operation *model);

// An imported model without its constant skip and branch scales, as far as
// plan; nothing where it has none, or where a pass refuses.
std::optional<Traffic> trafficUnscaled(mlir::ModuleOp imported,
                                       const rewrite::Wishes &wishes,
                                       const PlanChoices &choices);

} // namespace mille

// Counts the launches and the bytes of a run of a planned program, and of the
// same model without its scales. Must not measure time.
#pragma once
#include "compiler/plan/Passes.h"
#include "compiler/rewrite/Passes.h"

namespace mille {

struct Traffic {
  int64_t kernels = 0;     // distinct kernels
  int64_t launches = 0;    // launches of a run
  int64_t bytesPerRow = 0; // read and written per row of a run
  int64_t weightBytes = 0; // read once per run
  bool operator==(const Traffic &other) const;
};

// The bytes that a kernel reads and writes for each row.
int64_t rowBytesOf(mlir::Operation *kernelOp);

// The traffic of a planned model.
Traffic trafficOf(mlir::Operation *model);

// The traffic of an imported model if its constant skip and branch scales are
// removed and it is compiled up to plan. Empty if it has no such scales or a
// pass fails.
std::optional<Traffic> trafficUnscaled(mlir::ModuleOp imported,
                                       const rewrite::Wishes &wishes,
                                       const PlanChoices &choices);

} // namespace mille

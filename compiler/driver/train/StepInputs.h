// Inputs of the entry `train_step` for a run of the reference: given ones, and
// random ones in place of others. Must not know what the step computes.
#pragma once
#include "compiler/interpret/Interpret.h"

namespace mille {

struct StepShape {
  int64_t batch = 1, tokens = 1;
  uint64_t seed = 1;
};

// `model`: with the entry `train_step`. Labels that are not given are the next
// ids, or random classes where ids are not classes; the last token of a
// sequence and every seventh have none. `labels` is set to the number of labels
// that count; 0 where the entry takes none.
Values stepInputs(mlir::Operation *model, const Values &given,
                  const StepShape &shape, int64_t &labels);

} // namespace mille

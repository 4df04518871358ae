// The buffers whose numbers a kernel of a run, not of training, reads as they
// are or writes. Must not look at what they mean.
#pragma once
#include "compiler/kernels/Spec.h"

namespace mille {

// Its out and those that its kind has; of kinds that it is not of, f32 ones.
std::vector<BufferSpec> operandsOf(const KernelSpec &spec);

} // namespace mille

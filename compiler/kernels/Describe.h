// What the host must know of a kernel, whoever makes it.
#pragma once
#include "compiler/kernels/KernelInfo.h"
#include "compiler/kernels/Spec.h"

namespace mille {

// All but the name and what Generator::describe raises.
KernelInfo describeSpec(const KernelSpec &spec);

} // namespace mille

// Derives from a spec what the host must know of its kernel.
#pragma once
#include "compiler/kernels/KernelInfo.h"
#include "compiler/kernels/Spec.h"

namespace mille {

// Fills everything but the name and the numbers that Generator::describe
// raises.
KernelInfo describeSpec(const KernelSpec &spec);

// Of a matmul's kernel: the extras follow, then the out.
inline unsigned buffersBeforeExtras(const MatmulSpec &matmul) {
  return matmul.ofBytes() ? 4 : matmul.ofBlocks() ? 3 : 2;
}

} // namespace mille

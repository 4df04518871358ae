// What kernels of attention and of rows should give, in double, from buffers of
// numbers. Must be plain: no tiles, no order but the definition's.
#pragma once
#include "compiler/kernels/Spec.h"

#include <vector>

namespace mille::test {

struct Sizes {
  int64_t sequences = 1, queries = 1, keys = 1, first = 0;
};
using Numbers = std::vector<double>;

// buffers: in the order of the calling convention, rows rowStride apart. Gives
// the out, with rows spec.out.rowStride apart.
Numbers attentionInDouble(const KernelSpec &spec, const Sizes &sizes,
                          const std::vector<Numbers> &buffers);
Numbers rotateInDouble(const KernelSpec &spec, int64_t rows,
                       const std::vector<Numbers> &buffers);
Numbers rowsInDouble(const KernelSpec &spec, int64_t rows,
                     const std::vector<Numbers> &buffers);

} // namespace mille::test

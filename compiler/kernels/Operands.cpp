// Lists the operands of every kind of kernel.
#include "compiler/kernels/Operands.h"

std::vector<mille::BufferSpec> mille::operandsOf(const KernelSpec &spec) {
  std::vector<BufferSpec> all = spec.matmul.extras;
  for (const BufferSpec &buffer :
       {spec.out, spec.matmul.input, spec.quantize.input, spec.quantize.values,
        spec.rotate.input, spec.rotate.rotation, spec.attention.query,
        spec.attention.key, spec.attention.value})
    all.push_back(buffer);
  all.insert(all.end(), spec.rows.inputs.begin(), spec.rows.inputs.end());
  for (const JoinedRows &joined : spec.joined) {
    all.push_back(joined.out);
    all.insert(all.end(), joined.rows.inputs.begin(), joined.rows.inputs.end());
  }
  return all;
}

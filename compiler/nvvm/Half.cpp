// Which floats of 16 bits a kernel has.
#include "compiler/nvvm/Half.h"

#include <algorithm>

namespace mille::nvvm {

bool isHalf(Element element) {
  return element == Element::bf16 || element == Element::f16;
}

bool isFloat(Element element) {
  return element == Element::f32 || isHalf(element);
}

static bool has(const KernelSpec &spec, Element element) {
  std::vector<BufferSpec> all = spec.matmul.extras;
  for (const BufferSpec &buffer :
       {spec.out, spec.matmul.input, spec.quantize.input, spec.rotate.input,
        spec.rotate.rotation, spec.attention.query, spec.attention.key,
        spec.attention.value})
    all.push_back(buffer);
  all.insert(all.end(), spec.rows.inputs.begin(), spec.rows.inputs.end());
  for (const JoinedRows &joined : spec.joined) {
    all.push_back(joined.out);
    all.insert(all.end(), joined.rows.inputs.begin(), joined.rows.inputs.end());
  }
  return std::any_of(all.begin(), all.end(), [&](const BufferSpec &buffer) {
    return buffer.element == element;
  });
}

Half halfOf(const KernelSpec &spec) {
  return has(spec, Element::f16) ? Half::f16 : Half::bf16;
}

std::string whyNotOneHalf(const KernelSpec &spec) {
  return has(spec, Element::f16) && has(spec, Element::bf16)
             ? "some of its numbers are f16, others bf16"
             : "";
}

} // namespace mille::nvvm

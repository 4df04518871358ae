// Which floats of 16 bits a kernel has.
#include "compiler/nvvm/Half.h"

#include "compiler/kernels/Operands.h"
#include "llvm/ADT/STLExtras.h"

namespace mille::nvvm {

bool isHalf(Element element) {
  return element == Element::bf16 || element == Element::f16;
}

bool isFloat(Element element) {
  return element == Element::f32 || isHalf(element);
}

static bool has(const KernelSpec &spec, Element element) {
  return llvm::any_of(operandsOf(spec), [&](const BufferSpec &buffer) {
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

// The floats of 16 bits that a kernel reads and writes: of one type, and
// handled alike but for the bits. Must not look at tiles.
#pragma once
#include "compiler/kernels/Spec.h"

namespace mille::nvvm {

enum class Half { bf16, f16 };

bool isHalf(Element element);
// f32, or a float of 16 bits.
bool isFloat(Element element);
// f16 where a number of the kernel is, else bf16.
Half halfOf(const KernelSpec &spec);
// Empty, or why the kernel's numbers are not of one type of 16 bits.
std::string whyNotOneHalf(const KernelSpec &spec);

} // namespace mille::nvvm

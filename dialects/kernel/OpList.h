// The ops of the kernel dialect as a list of types.
// Must not be kept by hand: the list is what ODS generates.
#pragma once
#include "dialects/kernel/Kernel.h"
#include "dialects/transformer/OpList.h"

namespace mille::kernel {

using Ops = OpList<
#define GET_OP_LIST
#include "dialects/kernel/KernelOps.cpp.inc"
    >;

} // namespace mille::kernel

#include "compiler/halide/CoreKind.h"

#include "runtime/abi.h"

mille::CoreKind mille::coreKindOf(const Target &target) {
  if (target.isDevice())
    return {};
  const bool wide = target.features & MILLE_CPU_AVX512;
  return {wide, !wide || (target.features & MILLE_CPU_AVX512_BF16),
          bool(target.features & MILLE_CPU_AMX)};
}

// The traits of each target's CPU. Must not know what schedules make of them.
#include "compiler/halide/CpuTraits.h"

#include "runtime/abi.h"

mille::CpuTraits mille::traitsOf(const Target &target) {
  if (target.isDevice())
    return {};
  const bool wide = target.features & MILLE_CPU_AVX512;
  const bool looksFar = !wide || (target.features & MILLE_CPU_AVX512_BF16),
             tileRegisters = target.features & MILLE_CPU_AMX;
  const bool ofZen = wide && looksFar && !tileRegisters,
             oneStream = ofZen && !(target.features & MILLE_CPU_AVX_VNNI);
  return {wide,
          looksFar,
          tileRegisters,
          ofZen,
          wide && !tileRegisters && !oneStream,
          oneStream,
          bool(target.features & MILLE_CPU_AVX512_VNNI)};
}

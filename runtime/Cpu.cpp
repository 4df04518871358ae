// Features by cpuid, and by xgetbv whether the system saves their registers.
// Must not name a feature that the system does not keep across a switch.
#include "runtime/Cpu.h"

#include <stdio.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if defined(__x86_64__)
namespace {
bool all(uint32_t word, uint32_t bits) { return (word & bits) == bits; }

constexpr uint32_t bit(int number) { return 1u << number; }

uint64_t savedRegisters() {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low | (uint64_t)high << 32;
}

// Intel's vdpbf16ps runs at half the rate of f32's multiply-adds (80 and 167
// GFLOP/s on an Emerald Rapids), AMD's at the same rate. AVX512_FP16 would not
// tell them apart: Zen 6 is to have it too.
bool isOfIntel() {
  uint32_t most, b, c, d;
  return __get_cpuid(0, &most, &b, &c, &d) && b == signature_INTEL_ebx &&
         d == signature_INTEL_edx && c == signature_INTEL_ecx;
}

// Linux keeps the data of tile registers only for processes that asked for it.
bool keepsTiles(uint64_t saved) {
  constexpr uint64_t configuration = 1u << 17, data = 1u << 18;
  constexpr long request = 0x1023, dataNumber = 18; // ARCH_REQ_XCOMP_PERM
  return (saved & configuration) && (saved & data) &&
         syscall(SYS_arch_prctl, request, dataNumber) == 0;
}
} // namespace

extern "C" uint64_t mille_cpu_features(void) {
  uint32_t a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d))
    return 0;
  // fma, osxsave, avx, f16c
  if (!all(c, bit(12) | bit(27) | bit(28) | bit(29)))
    return 0;
  uint64_t saved = savedRegisters();
  if (!all(saved, 0x6)) // xmm, ymm
    return 0;
  uint32_t b7, c7, d7;
  if (!__get_cpuid_count(7, 0, &a, &b7, &c7, &d7))
    return 0;
  uint64_t features = 0;
  if (!all(b7, bit(5) | bit(8))) // avx2, bmi2
    return 0;
  features |= MILLE_CPU_AVX2;
  if (!all(saved, 0xe6)) // and opmask, zmm
    return features;
  // avx512 f, dq, cd, bw, vl
  if (!all(b7, bit(16) | bit(17) | bit(28) | bit(30) | bit(31)))
    return features;
  features |= MILLE_CPU_AVX512;
  if (c7 & bit(11))
    features |= MILLE_CPU_AVX512_VNNI;
  // avx512 ifma, vbmi, vbmi2, bitalg
  if (all(b7, bit(21)) && all(c7, bit(1) | bit(6) | bit(12)))
    features |= MILLE_CPU_AVX512_VBMI2;
  // amx bf16, tile, int8
  if (all(d7, bit(22) | bit(24) | bit(25)) && keepsTiles(saved))
    features |= MILLE_CPU_AMX;
  if (!__get_cpuid_count(7, 1, &a, &b, &c, &d))
    return features;
  if (a & bit(4))
    features |= MILLE_CPU_AVX_VNNI;
  if (a & bit(5))
    features |= MILLE_CPU_AVX512_BF16;
  if (a & bit(5) && isOfIntel())
    features |= MILLE_CPU_SLOW_BF16;
  return features;
}
#else
extern "C" uint64_t mille_cpu_features(void) { return 0; }
#endif

extern "C" const char *mille_cpu_feature_name(uint64_t feature) {
  switch (feature) {
  case MILLE_CPU_AVX2:
    return "avx2 (with fma, f16c, bmi2)";
  case MILLE_CPU_AVX512:
    return "avx512 (f, bw, cd, dq, vl)";
  case MILLE_CPU_AVX512_BF16:
    return "avx512_bf16";
  case MILLE_CPU_AVX512_VNNI:
    return "avx512_vnni";
  case MILLE_CPU_AVX512_VBMI2:
    return "avx512_vbmi2 (with ifma, vbmi, bitalg)";
  case MILLE_CPU_AMX:
    return "amx (tile, bf16, int8)";
  case MILLE_CPU_AVX_VNNI:
    return "avx_vnni";
  }
  return nullptr;
}

// Every feature that a set uses makes it better. Where products of bf16 are
// slow, they and what comes with them in the sets of Zen 4 and 5 do not; of
// sets that are equal in the rest the one that needs least is the better then.
extern "C" uint64_t mille_cpu_worth(uint64_t needs, uint64_t has) {
  if (needs & ~has)
    return 0;
  const uint64_t idle =
      has & MILLE_CPU_SLOW_BF16
          ? MILLE_CPU_AVX512_BF16 | MILLE_CPU_AVX512_VBMI2 | MILLE_CPU_AVX_VNNI
          : 0;
  const int used = __builtin_popcountll(needs & ~idle),
            all = __builtin_popcountll(needs);
  return (uint64_t)used * 64 + 64 - all;
}

void mille::nameFeatures(uint64_t features, char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (int number = 0; number < 64 && used < size; ++number) {
    uint64_t feature = features & (uint64_t)1 << number;
    if (!feature)
      continue;
    const char *name = mille_cpu_feature_name(feature);
    const char *comma = used ? ", " : "";
    used += name ? snprintf(text + used, size - used, "%s%s", comma, name)
                 : snprintf(text + used, size - used, "%sfeature %d", comma,
                            number);
  }
}

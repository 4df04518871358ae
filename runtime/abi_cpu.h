/* What a CPU can do, and which set of instructions is the best on it. A part of
 * abi.h. */
#ifndef MILLE_ABI_CPU_H
#define MILLE_ABI_CPU_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

enum {
  MILLE_CPU_AVX2 = 1 << 0,   /* with fma, f16c, bmi2 */
  MILLE_CPU_AVX512 = 1 << 1, /* f, bw, cd, dq, vl */
  MILLE_CPU_AVX512_BF16 = 1 << 2,
  MILLE_CPU_AVX512_VNNI = 1 << 3,
  MILLE_CPU_AVX512_VBMI2 = 1 << 4, /* with ifma, vbmi, bitalg */
  MILLE_CPU_AMX = 1 << 5,          /* tile, bf16, int8 */
  MILLE_CPU_AVX_VNNI = 1 << 6,
  /* No set needs this one: products of bf16 are slower than those of f32. */
  MILLE_CPU_SLOW_BF16 = 1 << 7
};

/* The features that this CPU and its operating system offer. On a CPU with AMX
 * this asks Linux to let the process use its tile registers. */
uint64_t mille_cpu_features(void);
/* The name of one feature that sets need, or null if there is none. */
const char *mille_cpu_feature_name(uint64_t feature);
/* What an instruction set that needs these features is worth on a CPU that has
 * those: 0 where it lacks one. Of several sets the one of the highest worth
 * runs, of equal ones the first. */
uint64_t mille_cpu_worth(uint64_t needs, uint64_t has);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif

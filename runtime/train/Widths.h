// The same function for each width of vectors: a caller picks by the features
// of abi_cpu.h what it calls.
#pragma once
#include "runtime/abi_cpu.h"

// 512 bits (MILLE_CPU_AVX512), 256 bits (MILLE_CPU_AVX2).
#if defined(__x86_64__)
#define MILLE_WIDE __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw")))
#define MILLE_HALF __attribute__((target("avx2")))
#else
#define MILLE_WIDE
#define MILLE_HALF
#endif

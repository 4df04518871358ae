// The targets of a package, by the machine's CPU and the options.
//
// RUN: %programs/driver-targets | FileCheck %s
// CHECK: newest, f32: sapphirerapids x86-64-v3
// CHECK: newest, bf16: sapphirerapids
// CHECK: newest, int8: sapphirerapids
// CHECK: newest, f32, host: sapphirerapids
// CHECK: newest, f32, x86-64-v3,x86-64-v4: x86-64-v4 x86-64-v3
// CHECK: newest without amx, f32: zen5 x86-64-v3
// CHECK: zen4 with amx, f32: sapphirerapids x86-64-v3
// CHECK: zen4, f32: zen4 x86-64-v3
// CHECK: zen4, bf16: zen4
// CHECK: zen4, int8: zen4
// CHECK: cascadelake, f32: cascadelake x86-64-v3
// CHECK: cascadelake, bf16: --dtype=bf16 computes with avx512_bf16, which
// CHECK-SAME: this machine's CPU has not{{$}}
// CHECK-NEXT: --target=cascadelake emulates it, slowly
// CHECK: cascadelake, int8: cascadelake
// CHECK: slow bf16, f32: cascadelake x86-64-v3{{$}}
// CHECK: slow bf16, bf16: cascadelake{{$}}
// CHECK: slow bf16, int8: cascadelake{{$}}
// CHECK: slow bf16, q4_0: cascadelake{{$}}
// CHECK: slow bf16, f32, zen5,x86-64-v3: zen5 x86-64-v3{{$}}
// CHECK: slow bf16 beside amx, bf16: sapphirerapids{{$}}
// CHECK: slow bf16 alone, bf16: cascadelake{{$}}
// CHECK: cooperlake, int8: cascadelake
// CHECK: skylake, f32: x86-64-v4 x86-64-v3
// CHECK: skylake, int8: x86-64-v4{{$}}
// CHECK: skylake, f32,a.weight=f32,*.w=q4_k: x86-64-v4{{$}}
// CHECK: skylake, q4_k,a.weight=bf16: --dtype=bf16 computes with
// CHECK-SAME: avx512_bf16, which
// CHECK: avx2, f32: x86-64-v3
// CHECK: avx2, bf16: --dtype=bf16 computes with avx512_bf16, which
// CHECK-SAME: this machine's CPU has not{{$}}
// CHECK-NEXT: --target=x86-64-v3 emulates it, slowly
// CHECK: avx2, int8: x86-64-v3{{$}}
// CHECK: avx2, stored: x86-64-v3{{$}}
// CHECK: avx2, q8_0: x86-64-v3{{$}}
// CHECK: avx2, bf16, x86-64-v3: x86-64-v3
// CHECK: nothing, f32, host: this machine's CPU has none of the instruction
// CHECK-SAME: sets that Mille knows{{$}}
// CHECK-NEXT: --target=x86-64-v3 generates for others
#include "compiler/driver/program/Targets.h"
#include "runtime/abi.h"

#include <cstdio>

using namespace mille;

static void choose(const char *machine, uint64_t features, const char *dtype,
                   const std::vector<std::string> &targets) {
  printf("%s, %s", machine, dtype);
  for (size_t i = 0; i < targets.size(); ++i)
    printf("%s%s", i ? "," : ", ", targets[i].c_str());
  printf(":");
  std::string why;
  std::optional<DtypeChoice> choice = DtypeChoice::parse(dtype, why);
  std::vector<Target> chosen = chooseTargets(features, targets, *choice, why);
  for (const Target &isa : chosen)
    printf(" %s", isa.name.c_str());
  printf("%s%s\n", chosen.empty() ? " " : "", why.c_str());
}

int main() {
  constexpr uint64_t avx2 = MILLE_CPU_AVX2;
  constexpr uint64_t zen4 = avx2 | MILLE_CPU_AVX512 | MILLE_CPU_AVX512_BF16 |
                            MILLE_CPU_AVX512_VNNI | MILLE_CPU_AVX512_VBMI2;
  constexpr uint64_t zen5 = zen4 | MILLE_CPU_AVX_VNNI;
  constexpr uint64_t newest = zen5 | MILLE_CPU_AMX;
  constexpr uint64_t skylake = avx2 | MILLE_CPU_AVX512;
  constexpr uint64_t cascadelake = skylake | MILLE_CPU_AVX512_VNNI;
  for (const char *dtype : {"f32", "bf16", "int8"})
    choose("newest", newest, dtype, {});
  choose("newest", newest, "f32", {"host"});
  choose("newest", newest, "f32", {"x86-64-v3", "x86-64-v4"});
  choose("newest without amx", zen5, "f32", {});
  choose("zen4 with amx", zen4 | MILLE_CPU_AMX, "f32", {});
  for (const char *dtype : {"f32", "bf16", "int8"})
    choose("zen4", zen4, dtype, {});
  for (const char *dtype : {"f32", "bf16", "int8"})
    choose("cascadelake", cascadelake, dtype, {});
  // As an Intel CPU does whose AMX is hidden, and one whose AMX is not.
  constexpr uint64_t slow = MILLE_CPU_SLOW_BF16;
  for (const char *dtype : {"f32", "bf16", "int8", "q4_0"})
    choose("slow bf16", zen5 | slow, dtype, {});
  choose("slow bf16", zen5 | slow, "f32", {"zen5", "x86-64-v3"});
  choose("slow bf16 beside amx", newest | slow, "bf16", {});
  choose("slow bf16 alone", cascadelake | MILLE_CPU_AVX512_BF16 | slow, "bf16",
         {});
  choose("cooperlake", cascadelake | MILLE_CPU_AVX512_BF16, "int8", {});
  for (const char *dtype :
       {"f32", "int8", "f32,a.weight=f32,*.w=q4_k", "q4_k,a.weight=bf16"})
    choose("skylake", skylake, dtype, {});
  for (const char *dtype : {"f32", "bf16", "int8", "stored", "q8_0"})
    choose("avx2", avx2, dtype, {});
  choose("avx2", avx2, "bf16", {"x86-64-v3"});
  choose("nothing", 0, "f32", {"host"});
}

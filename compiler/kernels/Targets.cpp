// The list of targets. A new target needs a row here and a generator that makes
// its kernels. Must hold nothing that only a generator understands.
#include "compiler/kernels/Targets.h"

#include "runtime/abi.h"
#include "llvm/ADT/STLExtras.h"

using namespace mille;

// Zen 5 is told from Zen 4 by AVX-VNNI, which no kernel uses: the two want
// other prefetches (CpuTraits.h).
static constexpr uint64_t v3 = MILLE_CPU_AVX2, v4 = v3 | MILLE_CPU_AVX512,
                          cascadelake = v4 | MILLE_CPU_AVX512_VNNI,
                          zen4 = cascadelake | MILLE_CPU_AVX512_BF16 |
                                 MILLE_CPU_AVX512_VBMI2,
                          zen5 = zen4 | MILLE_CPU_AVX_VNNI,
                          sapphirerapids = zen4 | MILLE_CPU_AMX;

llvm::ArrayRef<Target> mille::knownTargets() {
  static const Target targets[] = {
      {"sapphirerapids", TargetKind::cpu, "", sapphirerapids},
      {"zen5", TargetKind::cpu, "", zen5},
      {"zen4", TargetKind::cpu, "", zen4},
      {"cascadelake", TargetKind::cpu, "", cascadelake},
      {"x86-64-v4", TargetKind::cpu, "", v4},
      {"x86-64-v3", TargetKind::cpu, "", v3},
      {"opencl", TargetKind::device, "opencl", 0},
      {"cuda", TargetKind::device, "cuda", 0},
  };
  return targets;
}

const Target *mille::targetNamed(llvm::StringRef name) {
  const Target *found =
      llvm::find_if(knownTargets(),
                    [&](const Target &target) { return target.name == name; });
  return found == knownTargets().end() ? nullptr : found;
}

static std::vector<std::string> namesOf(TargetKind kind) {
  std::vector<std::string> names;
  for (const Target &target : knownTargets())
    if (target.kind == kind)
      names.push_back(target.name);
  return names;
}

std::vector<std::string> mille::targetNames() {
  std::vector<std::string> names = namesOf(TargetKind::cpu);
  std::reverse(names.begin(), names.end());
  llvm::append_range(names, namesOf(TargetKind::device));
  return names;
}

std::vector<std::string> mille::deviceTargetNames() {
  return namesOf(TargetKind::device);
}

const Target &mille::leastTarget() {
  return *targetNamed(targetNames().front());
}

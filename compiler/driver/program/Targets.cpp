// Chooses targets from the list. Must not ask the machine: callers pass its
// features.
#include "compiler/driver/program/Targets.h"

#include "compiler/driver/machine/Machine.h"
#include "runtime/abi.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace mille;

// Types that no CPU has kernels for.
static bool isOfDevices(Dtype dtype) {
  return dtype.kind == Dtype::f16 || dtype.kind == Dtype::fp8;
}

// The CPU feature with a multiply-add instruction for elements of this type.
static uint64_t multipliedBy(Dtype dtype) {
  if (isOfDevices(dtype))
    return 0; // no CPU: chooseTargets refuses them
  if (dtype.kind == Dtype::bf16)
    return MILLE_CPU_AVX512_BF16;
  return dtype.kind == Dtype::f32 ? 0 : MILLE_CPU_AVX512_VNNI;
}

// That feature, of types that are slower than f32 on a CPU without it.
static uint64_t neededBy(Dtype dtype) {
  return dtype.kind == Dtype::bf16 ? multipliedBy(dtype) : 0;
}

static std::vector<Target> bestFirst() {
  std::vector<Target> known(knownTargets().begin(), knownTargets().end());
  llvm::sort(known, [](const Target &a, const Target &b) {
    return std::make_tuple(-llvm::popcount(a.features), a.name) <
           std::make_tuple(-llvm::popcount(b.features), b.name);
  });
  return known;
}

// The set that packages with all of them run on such a CPU; end() if none does.
static std::vector<Target>::const_iterator
bestOf(const std::vector<Target> &known, uint64_t features) {
  auto worth = [&](const Target &isa) {
    return isa.isDevice() ? 0 : mille_cpu_worth(isa.features, features);
  };
  const auto best = llvm::max_element(known, [&](auto &a, auto &b) {
    return worth(a) < worth(b); // of equal ones the first
  });
  return worth(*best) ? best : known.end();
}

bool mille::targetsFit(const DtypeChoice &dtype,
                       const std::vector<std::string> &targets,
                       std::string &why) {
  auto lacks = [](const Target &target, Dtype type) {
    return isOfDevices(type) &&
           (!target.isDevice() ||
            (type.kind == Dtype::fp8 && target.backend != "cuda"));
  };
  for (Dtype type : dtype.all())
    for (const Target &target : targetsMeant(targets)) {
      if (!lacks(target, type))
        continue;
      const bool ofHopper = type.kind == Dtype::fp8;
      why = "--dtype=" + nameOf(type).str() + " has kernels for " +
            (ofHopper ? "Hopper" : "devices") + " alone\n--target=cuda" +
            (ofHopper ? " makes" : " and --target=opencl make") +
            " them; --dtype=bf16 goes with every target";
      return false;
    }
  return true;
}

std::vector<Target>
mille::chooseTargets(uint64_t features, const std::vector<std::string> &targets,
                     const DtypeChoice &dtype, std::string &why) {
  const std::vector<Target> known = bestFirst();
  std::vector<Target> chosen;
  const auto best = bestOf(known, features);
  // What the machine has but its best set does without, to be faster.
  const uint64_t left =
      features & MILLE_CPU_SLOW_BF16 ? uint64_t(MILLE_CPU_AVX512_BF16) : 0;
  const uint64_t computes = best == known.end() ? 0 : best->features | left;
  uint64_t needed = 0, multiplied = 0;
  Dtype lacking; // the first of which this machine has no instruction
  for (Dtype one : dtype.all()) {
    needed |= neededBy(one);
    multiplied |= multipliedBy(one);
    if (lacking.kind == Dtype::f32 && neededBy(one) & ~computes)
      lacking = one;
  }
  const bool host = targets.empty() || llvm::is_contained(targets, "host");
  if (host && needed & ~computes) {
    why = "--dtype=" + nameOf(lacking).str() + " computes with " +
          featureNames(neededBy(lacking)) +
          ", which this machine's CPU has not\n--target=" +
          (best == known.end() ? leastTarget().name : best->name) +
          " emulates it, slowly";
    return chosen;
  }
  for (const Target &isa : known) {
    bool isBest = best != known.end() && isa.name == best->name;
    bool everywhere =
        targets.empty() && !multiplied && isa.name == leastTarget().name;
    if ((host && isBest) || everywhere || llvm::is_contained(targets, isa.name))
      chosen.push_back(isa);
  }
  if (chosen.empty())
    why =
        "this machine's CPU has none of the instruction sets that Mille knows\n"
        "--target=" +
        leastTarget().name + " generates for others";
  return chosen;
}

std::vector<Target>
mille::targetsMeant(const std::vector<std::string> &targets) {
  const bool host = targets.empty() || llvm::is_contained(targets, "host");
  std::vector<Target> meant;
  for (const Target &target : knownTargets())
    if ((host && !target.isDevice()) ||
        llvm::is_contained(targets, target.name))
      meant.push_back(target);
  return meant;
}

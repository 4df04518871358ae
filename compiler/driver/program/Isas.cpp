// The closed list of instruction sets, cut to what was asked for.
#include "compiler/driver/program/Isas.h"

#include "compiler/driver/machine/Machine.h"
#include "compiler/halide/Generate.h"
#include "runtime/abi.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace mille;

// What multiplies and adds elements of this type in one instruction.
static uint64_t neededBy(llvm::StringRef dtype) {
  if (dtype == "bf16")
    return MILLE_CPU_AVX512_BF16;
  return dtype == "int8" ? MILLE_CPU_AVX512_VNNI : 0;
}

static std::vector<Isa> bestFirst() {
  std::vector<Isa> known(knownIsas().begin(), knownIsas().end());
  llvm::sort(known, [](const Isa &a, const Isa &b) {
    return std::make_tuple(-llvm::popcount(a.features), a.name) <
           std::make_tuple(-llvm::popcount(b.features), b.name);
  });
  return known;
}

std::vector<Isa> mille::chooseIsas(uint64_t features,
                                   const std::vector<std::string> &targets,
                                   const std::string &dtype, std::string &why) {
  std::vector<Isa> known = bestFirst(), chosen;
  auto best = llvm::find_if(known, [&](const Isa &isa) {
    return isa.backend.empty() && (isa.features & ~features) == 0;
  });
  const uint64_t needed = neededBy(dtype);
  const bool host = targets.empty() || llvm::is_contained(targets, "host");
  if (host && needed &&
      (best == known.end() || (best->features & needed) != needed)) {
    why = "--dtype=" + dtype + " computes with " + featureNames(needed) +
          ", which this machine's CPU has not\n--target=" +
          (best == known.end() ? "x86-64-v3" : best->name) +
          " emulates it, slowly";
    return chosen;
  }
  for (const Isa &isa : known) {
    bool isBest = best != known.end() && isa.name == best->name;
    bool everywhere = targets.empty() && !needed && isa.name == "x86-64-v3";
    if ((host && isBest) || everywhere || llvm::is_contained(targets, isa.name))
      chosen.push_back(isa);
  }
  if (chosen.empty())
    why =
        "this machine's CPU has none of the instruction sets that Mille knows\n"
        "--target=x86-64-v3 generates for others";
  return chosen;
}

bool mille::nameDevice(const std::vector<std::string> &targets) {
  return llvm::any_of(knownIsas(), [&](const Isa &isa) {
    return !isa.backend.empty() && llvm::is_contained(targets, isa.name);
  });
}

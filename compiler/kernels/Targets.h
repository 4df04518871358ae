// The list of targets: instruction sets of CPUs and kinds of devices. Must not
// know generators, nor this machine.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace mille {

enum class TargetKind { cpu, device };

struct Target {
  std::string name; // as in --target
  TargetKind kind = TargetKind::cpu;
  std::string backend = ""; // a device's: the runtime's mille_BACKEND_backend
  uint64_t features = 0;    // a CPU's: the MILLE_CPU_* (abi.h) that it needs

  bool isDevice() const { return kind == TargetKind::device; }
};

// All targets: CPUs, the newest first, then devices.
llvm::ArrayRef<Target> knownTargets();
// Null if no target has that name.
const Target *targetNamed(llvm::StringRef name);

// All names: CPUs, the oldest first, then devices: "x86-64-v3", ...
std::vector<std::string> targetNames();
std::vector<std::string> deviceTargetNames();

// The CPU that needs the fewest features. Its code runs on all others.
const Target &leastTarget();

} // namespace mille

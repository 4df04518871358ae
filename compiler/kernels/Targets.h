// What Mille generates for: the one list of instruction sets of CPUs and of
// kinds of devices. Must not know who generates, nor this machine.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace mille {

enum class TargetKind { cpu, device };

struct Target {
  std::string name; // as --target has it
  TargetKind kind = TargetKind::cpu;
  std::string backend = ""; // of the runtime, mille_BACKEND_backend; of devices
  uint64_t features = 0;    // of CPUs: MILLE_CPU_* of runtime/abi.h, all needed

  bool isDevice() const { return kind == TargetKind::device; }
};

// CPUs, the newest first, then devices.
llvm::ArrayRef<Target> knownTargets();
// Null: none has that name.
const Target *targetNamed(llvm::StringRef name);

// CPUs, the one that needs least first, then devices: "x86-64-v3", ...
std::vector<std::string> targetNames();
std::vector<std::string> deviceTargetNames();

// The CPU that needs least: what it runs runs on all others.
const Target &leastTarget();

} // namespace mille

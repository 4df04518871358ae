// Describes and measures this machine: name, features, cores, caches, peaks.
// Must not know a model or a package.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mille {

struct Cache {
  unsigned level;
  std::string kind; // "data", "unified"
  uint64_t bytes;
};

struct HostMachine {
  std::string cpu;       // the system's name for it
  std::string processor; // LLVM's name for it: "znver4"
  unsigned cores;        // the cores that this process may run on
  uint64_t memoryBytes;
  std::vector<Cache> caches; // the first core's, without instruction caches
  uint64_t features;         // MILLE_CPU_* of runtime/abi.h
};
HostMachine describeMachine();

// The bytes that this process can still take without swapping and within the
// limit of its process group; 0 if the system does not say.
uint64_t availableMemory();

// "avx2, avx512": the names of MILLE_CPU_* bits.
std::string featureNames(uint64_t features);

enum class NumberType { f32, bf16, int8 };

// The peak of multiply-adds in registers on `threads` threads at once, each
// counted as two operations, measured in 0.1 s or more. The instruction is
// vfmadd for f32, and for bf16 and int8 that of the tile registers or else
// vdpbf16ps and vpdpbusd. 0 if this machine has no such instruction.
double measurePeakGflops(NumberType type, unsigned threads);
double measureReadGigabytes(unsigned threads); // GB/s from memory
// The time of a message from one core to another and back; 0 if there is one
// core only. It varies on virtual machines, whose cores move.
double measureRoundTripNanoseconds();

} // namespace mille

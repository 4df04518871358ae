// What this machine is and can do: name, features, cores, caches, peaks.
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

struct Machine {
  std::string cpu;       // as the system names it
  std::string processor; // as LLVM names it: "znver4"
  unsigned cores;        // that this process may run on
  uint64_t memoryBytes;
  std::vector<Cache> caches; // of the first core, without instruction caches
  uint64_t features;         // MILLE_CPU_* of runtime/abi.h
};
Machine describeMachine();

// Bytes that the system can give without swapping, and this process's group of
// processes may take; 0: it does not say.
uint64_t availableMemory();

// "avx2, avx512": the names of MILLE_CPU_* bits.
std::string featureNames(uint64_t features);

enum class NumberType { f32, bf16, int8 };

// Measured by loops of our own on `threads` threads at once, in 0.1 s or more.
// Operations in registers, a multiply and an add as two: vfmadd; vdpbf16ps and
// vpdpbusd, or those of tile registers; 0: this machine has no such
// instruction.
double measurePeakGflops(NumberType type, unsigned threads);
double measureReadGigabytes(unsigned threads); // GB/s from memory
// From one core to another and back; 0: there is one core only. Virtual cores
// may be near or far from each other, and move.
double measureRoundTripNanoseconds();

} // namespace mille

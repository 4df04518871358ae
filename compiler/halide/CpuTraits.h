// What schedules and the model of a core (Tiles.h) follow from.
#pragma once
#include "compiler/kernels/Targets.h"

namespace mille {

struct CpuTraits {
  bool wide = true; // 32 vector registers of 16 lanes, not 16 of 8
  // The core looks ahead over 300 instructions, and so hides the latency of L3.
  // With AVX-512 but without bf16 it is of Skylake's kind, which holds 224.
  bool looksFar = true;
  bool tileRegisters = false; // AMX, of bf16 and of bytes
  // The core's own prefetcher follows the weights that a tile reads, so that
  // only those of later tiles are worth prefetches. Measured on Zen 4 and 5.
  bool foresees = false;
  // What few rows or keys read of memory as one stream is worth prefetches.
  // Measured on Cascade Lake and Zen 5, not with AMX.
  bool prefetchesStreams = false;
  // Memory gives one stream at its full speed, by the core's own prefetcher:
  // prefetches of that stream, or of a second one beside it, make it slower.
  // Measured on Zen 4, which has the AVX-512 of a Zen 5 but no AVX-VNNI.
  bool oneStream = false;
  bool bytes = true; // multiply-adds of four bytes
};

// The least of the cores of a CPU's target; the defaults for a device.
CpuTraits traitsOf(const Target &target);

} // namespace mille

// Which tiles a matmul gets, by a model of the core that it runs on: registers,
// multiply-adds and loads of a cycle, bytes of L2. No search, no measurement.
// Private to this room.
#pragma once
#include "compiler/halide/Spec.h"

#include <string>
#include <vector>

namespace mille {

// What the model knows of a core: the least of those that a target covers.
struct Core {
  int registers;   // of a vector
  int lanes;       // f32 in a vector
  int multiplies;  // multiply-adds started in a cycle
  int latency;     // of one, in cycles
  int loads;       // in a cycle
  int bytesFromL2; // in a cycle, that a loop keeps up
  int64_t bytesOfL2;
  int tileRegisters = 0; // which then hold the sums
  bool pipelines =
      false; // tiles of many rows whose sums are whole: PipelineTiles.h
};
// 32 vector registers of 16 lanes, or 16 of 8; and perhaps tile registers, for
// sums of narrow types.
Core coreOf(bool wide, bool hasTileRegisters = false, bool narrow = false);

struct MatmulTile {
  int rows, columns; // of the out, in every accumulator
  int chunk;         // steps of K that all tiles do before any does the next
  int chunkOfFew;    // the same where there are few rows

  // Of more rows than these, tiles of `rows` and of one less leave none over.
  int unshared() const { return (rows - 1) * (rows - 2) - 1; }
};

// Matmuls of so many rows or fewer have kernels of their own where there are
// classes: few tiles, as more hide memory's time behind their own; and of more
// rows the tiles of AVX-512 leave none over.
int fewRowsOf(const KernelSpec &spec);

// Whether a tile's sums may wait in their place of the out: f32, as they are.
bool sumsMayWait(const KernelSpec &spec);

// What one step of K costs a tile, in cycles; the largest is what it takes.
struct StepCost {
  double multiplies, latency, loads, fromL2;
  double cycles() const;
};
StepCost costOf(const Core &core, int rows, int vectors);

// What the model finds best, then what it finds nearly as good: measuring may
// find one of these better (mille compile --tune). Never empty, the same each
// time.
std::vector<MatmulTile> tilesOf(const KernelSpec &spec, const Core &core);

// "6 rows x 64 columns, 3072 steps of K in pieces of 1024, of few rows of 768".
std::string inWords(const MatmulTile &tile, const MatmulSpec &matmul);

// The first of them and why, as a sentence.
std::string explainTile(const KernelSpec &spec, const Core &core);

} // namespace mille

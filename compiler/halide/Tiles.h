// Which tiles a matmul gets, by a model of the core that it runs on: registers,
// multiply-adds and loads of a cycle, bytes of L2. No search, no measurement.
// Private to this room.
#pragma once
#include "compiler/halide/Spec.h"

#include <string>

namespace mille {

// What the model knows of a core: the least of those that a target covers.
struct Core {
  int registers;      // of a vector
  int lanes;          // f32 in a vector
  int multiplies;     // multiply-adds started in a cycle
  int latency;        // of one, in cycles
  int loads;          // in a cycle
  int bytesFromL2;    // in a cycle, that a loop keeps up
  int64_t bytesOfL2;
};
Core coreOf(bool wide); // 32 vector registers of 16 lanes, or 16 of 8

struct MatmulTile {
  int rows, columns; // of the out, in every accumulator
  int chunk;         // steps of K that all tiles do before any does the next
};

// What one step of K costs a tile, in cycles; the largest is what it takes.
struct StepCost {
  double multiplies, latency, loads, fromL2;
  double cycles() const;
};
StepCost costOf(const Core &core, int rows, int vectors);

MatmulTile matmulTileOf(const MatmulSpec &matmul, const Core &core);

// The tile and why, as a sentence.
std::string explainTile(const MatmulSpec &matmul, const Core &core);

} // namespace mille

// Sums of products in tile registers (AMX), of 16 rows x 64 bytes each: a pass
// replaces the loops that add products by a call, and TileInstructions.h
// replaces the call by AMX instructions once Halide has made bitcode.
// Must not be included outside of compiler/halide.
#pragma once
#include "Halide.h"

namespace mille {

// The loop nest of sums(row, column) = input(row, K) * weight(K, column), by
// the names that the pipeline gave to its parts. A row of sums has 16 lanes for
// each tile column, side by side. Distances are in bytes.
struct TileSums {
  std::string input, weight, sums;
  std::string row;     // the sums' loop over rows; rows past the last repeat it
  int rows;            // iterations of that loop
  int tileColumns;     // tile registers across, 16 lanes each
  int columnBytes;     // weight: from one tile column to the next
  int rowBytes;        // input: from one row to the next
  int stepBytes;       // input: from 64 bytes of K to the next 64
  int groupBytes;      // weight: from 4 bytes of K to the next 4
  int weightStepBytes; // weight: from 64 bytes of K to the next 64
  int innerBytes;      // bytes of K in a row of the input
  // The loop over K, 64 bytes an iteration; where empty, innerBytes says it.
  std::string step;
  bool ofBytes; // products of u8 and i8; else of pairs of bf16
  bool adds;    // to what the sums hold already: only their update is replaced

  // While a panel is multiplied, the panel after it is prefetched into L2; 0:
  // no prefetch.
  int panelBytes = 0;
  int slices = 1; // of a panel
  // Loops; the outer one is over slices of panels.
  std::string panel = {}, tile = {};

  // The loop of the epilogue over a tile's rows, and its rows an iteration. The
  // next tile's products are added between its iterations, so that neither the
  // tile registers nor the vector units wait. Empty: all products of a tile are
  // added at once.
  std::string epilogue = {};
  int epilogueRows = 1;
};

// The pass that replaces the loops, for add_custom_lowering_pass, which owns
// it.
Halide::Internal::IRMutator *sumInTileRegisters(TileSums what);

} // namespace mille

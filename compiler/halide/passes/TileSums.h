// Sums of products by the instructions of tile registers (AMX), of 16 rows x 64
// bytes each: a pass puts a call in the place of the loops that add them, and
// once Halide has made bitcode the call becomes those instructions. Private to
// this room.
#pragma once
#include "Halide.h"

namespace mille {

// sums(row, column) = input(row, K) * weight(K, column), by the names that the
// pipeline gave. Rows of sums are of 16 lanes for each tile column, side by
// side.
struct TileSums {
  std::string input, weight, sums;
  std::string row; // the sums' loop over rows; what is past the last repeats it
  int rows;        // of that loop
  int tileColumns; // 16 lanes each
  int columnBytes; // of the weight, from 16 columns to the next
  int rowBytes;    // of the input, from a row to the next
  int stepBytes;   // of the input, from 64 bytes of a row to the next
  int groupBytes;  // of the weight, from 4 bytes of K to the next
  int weightStepBytes; // of the weight, from 64 bytes of K to the next
  int innerBytes;      // of K
  std::string step; // not empty: the loop over K, of 64 bytes a turn, instead
  bool ofBytes;     // u8 times i8; else pairs of bf16
  bool adds;        // to what the sums hold; other definitions stay

  // What comes to L2 meanwhile: the panel that follows in the weight, if it has
  // any.
  int panelBytes = 0;
  int slices = 1;          // of a panel
  std::string panel, tile; // loops, the outer one over slices of panels

  // Not empty: the loop that takes a tile's sums, so many rows a turn. The next
  // tile's are added between its turns, so that neither waits for the other.
  std::string taker;
  int takerRows = 1;
};

// To be added to a pipeline with add_custom_lowering_pass, which owns it.
Halide::Internal::IRMutator *sumInTileRegisters(TileSums what);

} // namespace mille

// The instructions of tile registers (AMX), which Halide knows in loops of one
// tile only. Private to this room.
#pragma once

namespace llvm {
class Module;
}

namespace mille {

// What a lowered program calls where sums are wanted (TileSums.h). i32 of:
// input, its first byte, weight, its first byte, sums, their first byte, the
// weight's first byte and lines to ask for meanwhile, rows (0: nothing), steps
// of K, the first of these to add and the one after the last; and constants,
// TileSums' from tileColumns on, and TileParts.
constexpr const char *tileSumsName = "mille_sum_tiles";

// What a call does besides adding its steps; without all of them the registers
// hold a tile's sums from one call to the next.
enum TileParts { opensSums = 1, addsRest = 2, storesSums = 4, allParts = 7 };

// Makes each such call the instructions; what calls them configures the
// registers when it begins, and gives them back when it ends. A row's sums add
// in the order of K whatever the rows beside it.
void sumByInstructions(llvm::Module &module);

} // namespace mille

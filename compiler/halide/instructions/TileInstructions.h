// The instructions of tile registers (AMX), which Halide knows only for loops
// with one tile. Must not be included outside of compiler/halide.
#pragma once

namespace llvm {
class Module;
}

namespace mille {

// The placeholder call for sums (TileSums.h). Its arguments: input, its first
// byte, weight, its first byte, sums, their first byte, the first byte of the
// weight to prefetch and its lines, rows (0: do nothing), steps of K, the first
// step to add and the one after the last; then constants: the fields of
// TileSums from tileColumns on, and TileParts. It gives i32.
constexpr const char *tileSumsName = "mille_sum_tiles";

// The parts of a call besides adding its steps: clear the registers before, add
// the rest of K, store the sums. A call without all parts leaves a tile's sums
// in the registers for the next call.
enum TileParts { opensSums = 1, addsRest = 2, storesSums = 4, allParts = 7 };

// Replaces each such call by instructions. The function that holds the calls
// configures the registers when it begins, and releases them when it ends. A
// row's sums are added in the order of K, whichever rows lie beside it.
void sumByInstructions(llvm::Module &module);

} // namespace mille

// Sums of the products of blocks (BlockForm.h) in tile registers (AMX).
// Must not be included outside of compiler/halide.
#pragma once

namespace llvm {
class Module;
}

namespace mille {

// The placeholder call for the sums of some blocks (BlockTiles.h). Its
// arguments: input, its first byte, weight, its first byte, sums, their first
// byte, rows; then constants, the fields of BlockTiles from tileRows on. It
// gives i32.
constexpr const char *blockTilesName = "mille_sum_blocks";

// Replaces each such call by instructions. The function that holds the calls
// configures the registers when it begins, and releases them when it ends.
void sumBlocksByInstructions(llvm::Module &module);

} // namespace mille

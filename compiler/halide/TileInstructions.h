// The instructions of tile registers (AMX), which Halide knows in loops of one tile only.
// Private to this room.
#pragma once

namespace llvm {
class Module;
}

namespace mille {

// What a lowered program calls where sums are wanted (TileSums.h). i32 of: input, its
// first byte, weight, its first byte, sums, their first byte, the weight's first byte and
// lines to ask for meanwhile, rows, steps of K; and constants, TileSums' from tileColumns
// on.
constexpr const char *tileSumsName = "mille_sum_tiles";

// Makes each such call the instructions; what calls them configures the registers when
// it begins, and gives them back when it ends. A row's sums add in the order of K
// whatever the rows beside it.
void sumByInstructions(llvm::Module &module);

} // namespace mille

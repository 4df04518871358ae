// Tile registers (AMX) in software, for machines without them: so the kernels
// of a CPU that has them run in tests everywhere.
#pragma once
#include <cstdint>

namespace mille::test {

// From now on each AMX instruction that a thread of this process executes
// raises a signal, whose handler does what the instruction does and goes on
// behind it. Each thread has registers of its own. An instruction that the
// manual forbids (a register that is not configured, shapes that do not fit
// together) ends the process with a sentence. Intel's manual, volume 2, is the
// source of encodings, checks and arithmetic.
void emulateTiles();

// How many products of tiles were emulated.
uint64_t productsOfTiles();

} // namespace mille::test

// The program bin/mille: does what needs no compiler, and becomes the program
// that compiles for everything else.
#pragma once

namespace mille {

// Runs `mille` with these arguments and returns its exit status.
int runOrHandOver(int argc, char **argv);

} // namespace mille

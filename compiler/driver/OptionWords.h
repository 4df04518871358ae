// The words of each command, and what they take.
// Must not say what is wrong with a command line; Options.cpp does.
#pragma once
#include "compiler/driver/Options.h"

namespace CLI {
class App;
}

namespace mille {

// Adds all commands to `root`; what is typed goes to `options`, and the word of
// --stop-after to `stage`.
void addCommands(CLI::App &root, Options &options, std::string &stage);

} // namespace mille

// Defines the options of each command and their values.
// Must not explain what is wrong with a command line; Options.cpp does.
#pragma once
#include "compiler/driver/Options.h"

namespace CLI {
class App;
}

namespace mille {

// Adds a command to `root`; `text` says what it does. One file makes all: each
// file that makes a CLI::App itself compiles much of CLI11.
CLI::App *addCommand(CLI::App &root, const std::string &name,
                     const std::string &text);
void deviceOption(CLI::App *app, std::string &device);
// of: when it applies, or "".
void cacheOption(CLI::App *app, std::string &cache, const std::string &of);

// Adds all commands to `root`. Parsing then writes the values to `options`, and
// the word of --stop-after to `stage`.
void addCommands(CLI::App &root, Options &options, std::string &stage);

} // namespace mille

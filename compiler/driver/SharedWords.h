// Options that several commands have.
// Must not know the commands.
#pragma once
#include <string>

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
void calibrateOption(CLI::App *app, std::string &text, const std::string &of);

} // namespace mille

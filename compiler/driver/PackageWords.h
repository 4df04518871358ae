// Defines the options of the commands of packages: tokens, generate, bench,
// devices.
// Must not do what they ask for.
#pragma once
#include "compiler/driver/Options.h"

#include <CLI/CLI.hpp>

namespace mille {

void addTokens(CLI::App &root, TokensOptions &options);
void addGenerate(CLI::App &root, GenerateOptions &options);
void addBench(CLI::App &root, BenchOptions &options);
void addDevices(CLI::App &root, DevicesOptions &options);

} // namespace mille

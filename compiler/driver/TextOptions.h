// Defines the options of `mille tokens` and `mille generate`.
// Must not do what they ask for.
#pragma once
#include "compiler/driver/Options.h"

#include <CLI/CLI.hpp>

namespace mille {

void addTokens(CLI::App &root, TokensOptions &options);
void addGenerate(CLI::App &root, GenerateOptions &options);

} // namespace mille

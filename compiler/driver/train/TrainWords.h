// Defines the options of `mille train` and `mille export`, and their values.
// Must not do what they ask for.
#pragma once
#include "compiler/driver/Options.h"

#include <CLI/CLI.hpp>

namespace mille {

void addTrain(CLI::App &root, TrainOptions &options);
void addExport(CLI::App &root, ExportOptions &options);
// Of `mille compile` too.
CLI::Option *recomputeOption(CLI::App *app, std::string &word);
CLI::Option *memoryOption(CLI::App *app, int64_t &bytes);

} // namespace mille

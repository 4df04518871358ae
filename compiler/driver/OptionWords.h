// Defines the options of commands that read models.
// Must not judge what is wrong with a command line; Options.cpp does.
#pragma once
#include "compiler/driver/Options.h"

namespace CLI {
class App;
}

namespace mille {

void addInit(CLI::App &root, InitOptions &options);
void addRun(CLI::App &root, RunOptions &options);
void addVerify(CLI::App &root, VerifyOptions &options);
void addInspect(CLI::App &root, InspectOptions &options);
void addAnalyze(CLI::App &root, AnalyzeOptions &options);
void addReport(CLI::App &root, ReportOptions &options);

} // namespace mille

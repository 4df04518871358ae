// What is left behind when something breaks that is our bug: a file with the
// command line and the model as it was, and exit status 4, whatever broke.
// Must not allocate once something broke.
#pragma once
#include "compiler/driver/Stages.h"

#include <string>

namespace mille {

// Catches crashes and exhausted memory for the rest of the process.
void watchForCrashes(const std::string &commandLine);

// The model that a reproducer will hold from now on.
void rememberModel(const std::string &text);

// Writes the file, says where it is. For failures that are not crashes.
void leaveReproducer();

// For tests: MILLE_FAULT=crash@STAGE, bug@STAGE or memory@STAGE breaks there.
// True for bug.
bool injectedFault(Stage stage);

} // namespace mille

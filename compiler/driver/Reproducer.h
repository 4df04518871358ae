// After a crash or another bug in Mille: writes a file with the command line
// and the model, and exits with status 4. Must not allocate memory after the
// failure.
#pragma once
#include "compiler/driver/Stages.h"

#include <string>

namespace mille {

// Installs handlers for crashes, interrupts and exhausted memory.
void watchForCrashes(const std::string &commandLine);

// Says that this file stays mapped. If it is cut or cannot be read any more,
// the system sends SIGBUS; that is then an error of the input.
void expectChangesOf(const std::string &mapped);

// Sets the model for the reproducer.
void rememberModel(const std::string &text);

// Writes the reproducer and prints its path. For failures that are not crashes.
void leaveReproducer();

// For tests, by the variable MILLE_FAULT: crash@STAGE crashes at that stage,
// memory@STAGE exits as if memory had run out, and for bug@STAGE this returns
// true.
bool injectedFault(Stage stage);

} // namespace mille

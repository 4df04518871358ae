// Prints the messages and the progress of the command `mille`.
// Must not be used by library code, which prints nothing.
#pragma once
#include "compiler/driver/Compile.h"

namespace mille {

// Prints an error that is about no file: `mille: error: <text>`.
void sayError(const llvm::Twine &text);
// Prints `help: <text>`: what the user could do about the error above it.
void sayHelp(const llvm::Twine &text);

// Reports options that do not fit each other or the package.
Status refuseOptions(const llvm::Twine &text, const llvm::Twine &help = "");

// A number of bytes as text: "1.2 MB".
std::string sayBytes(double bytes);

// A request for a command: it shows progress on a terminal, keeps the model for
// a reproducer, and fails a stage if MILLE_FAULT says so.
CompileRequest requestOf(const CompileOptions &options);

} // namespace mille

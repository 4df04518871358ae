// What the command `mille` says by itself, and how it follows a compile.
// Must not be used by what a library does: it prints.
#pragma once
#include "compiler/driver/Compile.h"

namespace mille {

// One message without a place: `mille: error: <text>`.
void sayError(const llvm::Twine &text);
// `help: <text>`, what one could do about the error above.
void sayHelp(const llvm::Twine &text);

// The request of a command: progress is shown on a terminal, the model is kept
// for a reproducer, and MILLE_FAULT breaks a stage.
CompileRequest requestOf(const CompileOptions &options);

} // namespace mille

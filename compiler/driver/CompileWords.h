// Defines the options of `mille compile`, and checks which go together.
// Must not do what they ask for.
#pragma once
#include "compiler/driver/Options.h"

namespace CLI {
class App;
}

namespace mille {

void addCompile(CLI::App &root, CompileWords &options);

} // namespace mille

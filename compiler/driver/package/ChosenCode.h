// Which code of a package --target and --device mean.
// Must not load it.
#pragma once
#include "compiler/driver/package/Package.h"

namespace mille {

// codeFor turns --target and --device into the `isa` of Compiled::open: without
// a target a device is of the first kind that the package has code for.
// checkCode checks that a package has code for it.
Status codeFor(const Package &package, const std::string &target,
               const std::string &device, std::string &code);
Status checkCode(const Package &package, const std::string &code);

} // namespace mille

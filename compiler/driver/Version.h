// Which Mille this is and which packages it reads.
// Must not depend on any room.
#pragma once
#include <string>

namespace mille {

// Of the manifest NAME.json and of the interface between code and runtime that
// goes with it. A package of another version is refused by name.
constexpr int packageVersion = 3;

std::string versionText();

} // namespace mille
